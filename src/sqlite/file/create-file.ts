import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../errors.ts'

/**
 * Creates an empty database file and its folders, private to their owner. Existing ones stay
 * unchanged. A file that root creates belongs to the owner of `neighbor`. Returns whether it has
 * created the file.
 */
export function createDatabaseFile(path: string, neighbor = dirname(path)): boolean {
  makeFolder(dirname(path))
  try {
    // SQLite gives the files beside the database its mode and its owner.
    const file = openSync(path, 'wx', 0o600)
    give(file, neighbor)
    closeSync(file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** True if this process may have other rights than the user of the service. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** A command of root must not leave a file that the service can't open. */
function give(file: number, neighbor: string): void {
  if (!isRoot()) return
  const { uid, gid } = statSync(neighbor)
  if (uid !== 0) fchownSync(file, uid, gid)
}

/** Node's recursive mkdir hangs where a file system refuses folders, as below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
    giveFolder(path)
  } catch (error) {
    // Another process may have made it meanwhile, or this one, as the first half of `new/..`.
    if (!existsSync(path)) throw error
  }
}

function giveFolder(path: string): void {
  // The owner of the parent could replace the folder by a link, which root must not follow.
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  give(folder, dirname(path))
  closeSync(folder)
}
