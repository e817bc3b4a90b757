import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { createDatabaseFile, isLocked, transact } from './database.ts'

/** A process that migrates holds the lock as well, for a moment. */
const RETRY_MS = 50

/** Thrown to a second process that wants to serve the same database file, or to migrate it. */
export class AlreadyServed extends Error {
  override name = 'AlreadyServed'
}

/**
 * Makes this the one process that serves the database file, until the returned function is called or the process
 * ends, however it ends: the lock is the operating system's, on an open transaction of a small database beside the
 * file. The holder's pid stands in that database for whoever is refused, after `waitMs` milliseconds.
 *
 * The file may be named by way of links: SQLite follows them, and so does this.
 */
export async function takeServingLock(path: string, waitMs: number): Promise<() => void> {
  const lockPath = `${realpathSync(path)}-serving`
  createDatabaseFile(lockPath)
  const lock = new DatabaseSync(lockPath, { timeout: 0 })
  const end = performance.now() + waitMs
  for (;;) {
    try {
      holdLock(lock)
      return () => {
        if (lock.isOpen) lock.close()
      }
    } catch (error) {
      if (isLocked(error) && performance.now() < end) {
        await delay(RETRY_MS)
        continue
      }
      const holder = readHolder(lock)
      lock.close()
      if (!isLocked(error)) throw error
      throw new AlreadyServed(
        `the database file ${path} is being served by process ${holder ?? '(unknown)'}; one file has one serving process`,
      )
    }
  }
}

function holdLock(lock: DatabaseSync): void {
  for (;;) {
    // The pid has to be committed to be readable, which lets go of the lock for a moment: whoever finds another pid
    // once it holds the lock for good lost that moment to somebody, and starts over.
    transact(lock, () => {
      lock.exec('CREATE TABLE IF NOT EXISTS holder (only_row INTEGER PRIMARY KEY, pid INTEGER)')
      lock.prepare('INSERT OR REPLACE INTO holder VALUES (1, ?)').run(process.pid)
    })
    lock.exec('BEGIN IMMEDIATE')
    if (readHolder(lock) === process.pid) return
    lock.exec('ROLLBACK')
  }
}

/** Null where it is not to be read, as in the first moment of the first holder. */
function readHolder(lock: DatabaseSync): number | null {
  try {
    const row = lock.prepare('SELECT pid FROM holder').get()
    return row === undefined ? null : Number(row.pid)
  } catch {
    return null
  }
}
