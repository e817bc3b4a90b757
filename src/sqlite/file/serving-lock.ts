import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { retryWhileLocked, transact } from '../database.ts'
import { isLocked } from '../errors.ts'
import { createDatabaseFile } from './create-file.ts'
import { identityOf } from './held-files.ts'

/** Thrown if another process serves the same database file or migrates it. */
export class AlreadyServed extends Error {
  override name = 'AlreadyServed'
}

/** What only one process at a time has for a database file. */
export interface ServingLock {
  /** The identity of the lock file. */
  file: string
  /**
   * What the last process that served left in the lock file. Null if no process has served under
   * it, empty if the last one did not end by itself.
   */
  seal: string | null
  /** Releases the lock. Without `seal`, the lock file keeps the one that it had. */
  release(seal?: string): void
}

/**
 * Makes this process the only one that serves the database file. The lock is an open transaction of
 * a small database beside the file, which stores the holder's pid. The operating system releases it
 * when the process ends without doing so. Throws AlreadyServed with the pid if the lock is not free
 * within `waitMs` milliseconds.
 *
 * SQLite follows links to the file, and so does this function.
 */
export async function takeServingLock(path: string, waitMs: number): Promise<ServingLock> {
  const lockPath = `${realpathSync(path)}-serving`
  createDatabaseFile(lockPath, path)
  const file = identityOf(lockPath)
  const lock = new DatabaseSync(lockPath, { timeout: 0 })
  try {
    const seal = await retryWhileLocked(createHoldLock(lock), waitMs)
    return { file, seal, release: (newSeal = seal ?? undefined) => releaseLock(lock, newSeal) }
  } catch (error) {
    const holder = readHolder(lock)
    lock.close()
    if (!isLocked(error)) throw error
    throw new AlreadyServed(
      `the database file ${path} is being served by process ${holder ?? '(unknown)'}; one file has one serving process`,
    )
  }
}

/**
 * Takes the lock and returns the seal. Also breaks the seal: a process that ends without a release
 * leaves none.
 */
function createHoldLock(lock: DatabaseSync): () => string | null {
  let seal: string | null | undefined

  function writePid(): void {
    lock.exec(`
      CREATE TABLE IF NOT EXISTS holder (only_row INTEGER PRIMARY KEY, pid INTEGER);
      CREATE TABLE IF NOT EXISTS sealed (only_row INTEGER PRIMARY KEY, seal TEXT)`)
    // Unless this process has broken it in its last try.
    if (seal === undefined || readHolder(lock) !== process.pid) seal = readSeal(lock)
    lock.prepare('INSERT OR REPLACE INTO holder VALUES (1, ?)').run(process.pid)
    lock.exec(`INSERT OR REPLACE INTO sealed VALUES (1, '')`)
  }

  return () => {
    for (;;) {
      // The pid must be committed to be readable, and that releases the lock for a moment. If the
      // lock then shows another pid, that process took the moment, so start over.
      transact(lock, writePid)
      lock.exec('BEGIN IMMEDIATE')
      if (readHolder(lock) === process.pid) return seal ?? null
      lock.exec('ROLLBACK')
    }
  }
}

function readSeal(lock: DatabaseSync): string | null {
  const row = lock.prepare('SELECT seal FROM sealed').get()
  return row === undefined ? null : String(row.seal)
}

function releaseLock(lock: DatabaseSync, seal: string | undefined): void {
  if (!lock.isOpen) return
  try {
    if (seal === undefined) lock.exec('DELETE FROM sealed')
    else lock.prepare('UPDATE sealed SET seal = ?').run(seal)
    lock.exec('COMMIT')
  } catch {
    // The disk is full, for example. Without a seal, the next process waits before it serves.
  }
  lock.close()
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
