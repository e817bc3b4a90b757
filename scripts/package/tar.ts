/** A file of a tar archive. */
export interface ArchivedFile {
  /** With slashes, at most 100 bytes. */
  path: string
  content: Buffer
}

const BLOCK_BYTES = 512
/** The time that npm gives to each file, so that the same files are the same bytes. */
const MODIFIED = Date.UTC(1985, 9, 26, 8, 15) / 1000

/** A tar archive of plain files in the format of POSIX (ustar). */
export function tar(files: readonly ArchivedFile[]): Buffer {
  const end = Buffer.alloc(2 * BLOCK_BYTES)
  return Buffer.concat([...files.flatMap((file) => [headerOf(file), padded(file.content)]), end])
}

function headerOf({ path, content }: ArchivedFile): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for a tar archive`)
  const header = Buffer.alloc(BLOCK_BYTES)
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, '0'), at)
  header.write(path)
  octal(0o644, 100, 7)
  // The owner and the group are root.
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(content.length, 124, 11)
  octal(MODIFIED, 136, 11)
  header.write('0', 156)
  header.write('ustar\u000000', 257)
  // The sum counts its own eight bytes as spaces.
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  octal(sum, 148, 6)
  header[154] = 0
  return header
}

function padded(content: Buffer): Buffer {
  const blocks = Math.ceil(content.length / BLOCK_BYTES)
  return Buffer.concat([content], blocks * BLOCK_BYTES)
}
