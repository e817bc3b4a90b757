import { open } from 'node:fs/promises'

/** Makes a file, or the names in a folder, survive a loss of power. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
