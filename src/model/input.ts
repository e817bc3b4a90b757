import { isUtf8 } from 'node:buffer'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { MEGABYTE } from './text.ts'

/*
 * The one way to read what an operator or a user names: what counts as text, and the sentences
 * about what does not. A complaint has words that follow "it" or "the file".
 */

/** The bytes of a file, a pipe or standard input, as they arrive. Opened once. */
export type OpenInput = (name: string) => AsyncIterable<Buffer>

type ReadText = { text: string } | { complaint: string }

/** `/dev/zero` and some pipes have no end. The message is a complaint. */
class TooLarge extends Error {}

/** Throws TooLarge. */
function assertSize(bytes: number, megabytesMax: number): void {
  if (bytes > megabytesMax * MEGABYTE) throw new TooLarge(`is larger than ${megabytesMax} MB`)
}

/** In MB. A list of 2,700,000 keys, which takes 1.5 GB of memory. */
const INPUT_MAX = 256

/** The same bytes. Throws TooLarge. */
export async function* withinBounds(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0
  for await (const part of bytes) {
    length += part.length
    assertSize(length, INPUT_MAX)
    yield part
  }
}

/**
 * The text of a file or a pipe of at most one MB that a setting or another file names. An
 * `isReread` file is read while the service answers, so it must not be a pipe. The complaint is a
 * whole sentence, in which `name` stands for the file.
 */
export function readText(path: string, name: string, isReread = false): ReadText {
  let read: ReadText
  try {
    read = decodeText(readSmallFile(path, isReread))
    if ('text' in read && read.text.trim() === '') read = { complaint: 'is empty' }
  } catch (error) {
    read = { complaint: complaintAboutError(error) }
  }
  return 'text' in read ? read : { complaint: `cannot read ${name}: it ${read.complaint}` }
}

function readSmallFile(path: string, isReread: boolean): Buffer {
  // Otherwise, a pipe without a writer would stop the process.
  const file = openSync(path, isReread ? constants.O_NONBLOCK : 'r')
  try {
    const bytes = Buffer.alloc(MEGABYTE + 1)
    let [length, read] = [0, 0]
    do {
      read = readSync(file, bytes, length, bytes.length - length, null)
      length += read
      assertSize(length, 1)
    } while (read > 0)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Some editors and spreadsheets begin a text with a byte order mark, which is no part of it. */
export function decodeText(bytes: Buffer): ReadText {
  const complaint = complaintAboutFormat(bytes) ?? complaintAboutBytes(bytes)
  return complaint === null ? { text: withoutMark(bytes.toString()) } : { complaint }
}

export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '')

/** With a mark, or two ASCII characters at the beginning. */
const UTF_16 = /^(?:\xff\xfe|\xfe\xff|(?:[^\0]\0){2}|(?:\0[^\0]){2})/
/** The first bytes of .xlsx, .ods and other ZIP files, and of .xls. */
const SPREADSHEETS = ['PK\u0003\u0004', '\u00d0\u00cf\u0011\u00e0']

/** The complaint about what is often taken for a text. Null if the bytes are something else. */
export function complaintAboutFormat(bytes: Buffer): string | null {
  const begin = bytes.toString('latin1', 0, 4)
  if (UTF_16.test(begin)) return 'is UTF-16 text. Save it as UTF-8 and try again'
  if (SPREADSHEETS.includes(begin))
    return 'is a spreadsheet or a ZIP file. Save the sheet as CSV and try again'
  return null
}

function complaintAboutBytes(bytes: Buffer): string | null {
  if (bytes.includes(0)) return 'is not a text file'
  if (isUtf8(bytes)) return null
  return 'is not UTF-8 text. Save it as UTF-8 (in Excel, “CSV UTF-8”) and try again'
}

const COMPLAINTS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'is closed to this user',
  // A socket that is a descriptor can't be opened by its path.
  ENXIO: 'is a socket. Name a file or a pipe',
}

/** Why the system does not read an input. */
export function complaintAboutError(error: unknown): string {
  if (error instanceof TooLarge) return error.message
  const { code = '', message } = error as NodeJS.ErrnoException
  return COMPLAINTS[code] ?? `can't be read: ${code === '' ? message : code}`
}
