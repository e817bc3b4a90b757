import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** Opens a file for `body`, and closes it in any case. */
export async function withFile(
  path: string,
  flags: number,
  body: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await body(file)
  } finally {
    await file.close()
  }
}

/** Makes the names in a folder survive a loss of power. A folder can only be opened to read. */
export const syncFolder = (path: string): Promise<void> =>
  withFile(path, constants.O_RDONLY, (folder) => folder.sync())
