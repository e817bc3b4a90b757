import { DatabaseSync } from 'node:sqlite'
import { createDatabaseFile, isLocked, transact } from './database.ts'

const LOCK_WAIT_MS = 100

/** Thrown to a second process that wants to serve the same database file. */
export class AlreadyServed extends Error {
  override name = 'AlreadyServed'
}

/**
 * Makes this the one process that serves the database file, until the returned function is called or the process
 * ends, however it ends: the lock is the operating system's, on an open transaction of a small database beside the
 * file. The holder's pid stands in that database for whoever is refused.
 */
export function takeServingLock(path: string): () => void {
  const lockPath = `${path}-serving`
  createDatabaseFile(lockPath)
  const lock = new DatabaseSync(lockPath, { timeout: LOCK_WAIT_MS })
  try {
    holdLock(lock)
  } catch (error) {
    const holder = isLocked(error) ? readHolder(lock) : null
    lock.close()
    if (!isLocked(error)) throw error
    throw new AlreadyServed(
      `the database file ${path} is being served by process ${holder ?? '(unknown)'}; one file has one serving process`,
    )
  }
  return () => {
    if (lock.isOpen) lock.close()
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

function readHolder(lock: DatabaseSync): number | null {
  const row = lock.prepare('SELECT pid FROM holder').get()
  return row === undefined ? null : Number(row.pid)
}
