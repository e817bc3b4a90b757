import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { closeDatabase, retryWhileLocked, transact } from '../database.ts'
import { isLocked } from '../errors.ts'
import { createDatabaseFile } from './create-file.ts'

/** Thrown if another process serves the same database file or migrates it. */
export class AlreadyServed extends Error {
  override name = 'AlreadyServed'
}

/**
 * Makes this process the only one that serves the database file. The lock is an open transaction of
 * a small database beside the file, which stores the holder's pid. The returned function releases
 * the lock. The operating system releases it when the process ends in any other way. Throws
 * AlreadyServed with the pid if the lock is not free within `waitMs` milliseconds.
 *
 * SQLite follows links to the file, and so does this function.
 */
export async function takeServingLock(path: string, waitMs: number): Promise<() => void> {
  const lockPath = `${realpathSync(path)}-serving`
  createDatabaseFile(lockPath, path)
  const lock = new DatabaseSync(lockPath, { timeout: 0 })
  try {
    await retryWhileLocked(() => holdLock(lock), waitMs)
    return () => closeDatabase(lock)
  } catch (error) {
    const holder = readHolder(lock)
    lock.close()
    if (!isLocked(error)) throw error
    throw new AlreadyServed(
      `the database file ${path} is being served by process ${holder ?? '(unknown)'}; one file has one serving process`,
    )
  }
}

function holdLock(lock: DatabaseSync): void {
  for (;;) {
    // The pid must be committed to be readable, and that releases the lock for a moment. If the
    // lock then shows another pid, that process took the moment, so start over.
    transact(lock, () => {
      lock.exec('CREATE TABLE IF NOT EXISTS holder (only_row INTEGER PRIMARY KEY, pid INTEGER)')
      lock.prepare('INSERT OR REPLACE INTO holder VALUES (1, ?)').run(process.pid)
    })
    lock.exec('BEGIN IMMEDIATE')
    if (readHolder(lock) === process.pid) return
    lock.exec('ROLLBACK')
  }
}

/**
 * False if no process holds the serving lock at this moment. A process that starts to serve takes
 * the lock before its first write. True if the lock can't be read.
 */
export function isServed(path: string): boolean {
  try {
    const lockPath = `${realpathSync(path)}-serving`
    if (!existsSync(lockPath)) return false
    const lock = new DatabaseSync(lockPath, { timeout: 0 })
    try {
      // Closing the lock ends this transaction, before a starting service tries again.
      lock.exec('BEGIN IMMEDIATE')
      return false
    } finally {
      lock.close()
    }
  } catch {
    return true
  }
}

/** Null if the pid cannot be read, as in the first moment of the first holder. */
function readHolder(lock: DatabaseSync): number | null {
  try {
    const row = lock.prepare('SELECT pid FROM holder').get()
    return row === undefined ? null : Number(row.pid)
  } catch {
    return null
  }
}
