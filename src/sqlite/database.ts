import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { NotConfigured } from '../model/faults.ts'
import { INSTANT_MAX } from '../model/instant.ts'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { isLocked, unusable } from './errors.ts'
import { createDatabaseFile } from './file/create-file.ts'
import { complaintAboutDatabase, MIGRATIONS, readLedger } from './schema.ts'

export interface DatabaseOptions {
  /** NORMAL survives a crash of the process, FULL also one of the machine. */
  synchronous: 'NORMAL' | 'FULL'
  /** The longest wait for another process's lock, in milliseconds. Waiting stops the event loop. */
  lockWaitMs: number
  /** Leaves a file that needs a migration as it is. Its reader then reports that. */
  keepOld?: boolean
}

/**
 * The part of the file that a connection caches. The system's own cache holds the rest, one copy
 * away.
 */
const CACHE_KIB = 4_096
/**
 * A command may wait this long for another process's transaction. The service's event loop must
 * not.
 */
export const COMMAND_LOCK_WAIT_MS = 10_000
/** How long `openToRead` waits for another process's lock. */
const READ_LOCK_WAIT_MS = 2_000
/** The interval for retries of work on a locked file, in milliseconds. */
const LOCK_RETRY_MS = 5
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4))
/** The size to which the log is truncated after it had to grow, as during a long import. */
const LOG_BYTES_KEPT = 32 * 1024 * 1024

/**
 * Opens the file of a store, and creates a missing one if `create` is set. Throws NotConfigured if
 * the file can't be used.
 */
export function openFile(path: string, create: boolean): DatabaseSync {
  if (!create && !existsSync(path))
    throw new NotConfigured(
      `there is no database file ${path}. If it is elsewhere, set DATABASE_URL as the service ` +
        'has it. To create it, run `server-listing migrate`',
    )
  if (existsSync(path) && !statSync(path).isFile())
    throw new NotConfigured(
      `cannot use the database file ${path}: it is a folder or not a regular file`,
    )
  try {
    if (create) createDatabaseFile(path)
    return openDatabase(path, {
      synchronous: 'FULL',
      lockWaitMs: COMMAND_LOCK_WAIT_MS,
      keepOld: !create,
    })
  } catch (error) {
    throw unusable(path, error) ?? error
  }
}

export function closeDatabase(database: DatabaseSync): void {
  if (database.isOpen) database.close()
}

/**
 * Opens a connection to an existing database file. Throws NotConfigured if this program must not
 * use it.
 */
export function openDatabase(path: string, options: DatabaseOptions): DatabaseSync {
  assertNotMounted(path)
  const database = new DatabaseSync(path, { timeout: options.lockWaitMs })
  try {
    // Before any write, because even the journal mode writes.
    const complaint = complaintAboutDatabase(database)
    if (complaint !== null)
      throw new NotConfigured(`cannot use the database file ${path}: ${complaint}`)
    const present = readLedger(database, MIGRATIONS)
    if (options.keepOld && present < MIGRATIONS.length) return database
    useWriteAheadLog(database, options.lockWaitMs)
    database.exec(`
      PRAGMA synchronous = ${options.synchronous};
      PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA journal_size_limit = ${LOG_BYTES_KEPT};
    `)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Opens the file without a chance to change it. Without a log no process has the file open, and
 * `immutable` keeps SQLite from making one.
 */
export function openToRead(path: string): DatabaseSync {
  const real = realpathSync(path)
  const options = { readOnly: true, timeout: READ_LOCK_WAIT_MS }
  if (existsSync(`${real}-wal`)) return new DatabaseSync(real, options)
  const url = pathToFileURL(real)
  url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, options)
}

/**
 * SQLite doesn't wait where two connections change the mode of a new file at once: each has read it
 * and one must give way.
 */
function useWriteAheadLog(database: DatabaseSync, waitMs: number): void {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isLocked(error) || performance.now() > until) throw error
    }
    Atomics.wait(NEVER_WOKEN, 0, 0, LOCK_RETRY_MS)
  }
}

/**
 * Returns a function that reads the version of the schema. SQLite changes it with each change of
 * the schema, and when `.restore` writes another file over this one.
 */
export function schemaVersion(database: DatabaseSync): () => number {
  const read = database.prepare('PRAGMA schema_version')
  return () => Number(read.get()?.schema_version)
}

/** The driver can't read an integer that a number can't hold. Null stays null. */
export const bounded = (value: string): string =>
  `max(-${INSTANT_MAX}, min(${value}, ${INSTANT_MAX}))`

/**
 * Runs `body` as one transaction. It takes the write lock when it begins, so that it never has to
 * be repeated.
 */
export function transact<T>(database: DatabaseSync, body: () => T): T {
  rollBack(database)
  try {
    database.exec('BEGIN IMMEDIATE')
    const result = body()
    database.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/**
 * Runs `body`, at most one transaction, and retries it while another process holds the file's lock.
 * The event loop continues meanwhile. Throws the last error after `waitMs`, or one that `isRetried`
 * does not know.
 */
export async function retryWhileLocked<T>(
  body: () => T | Promise<T>,
  waitMs: number,
  isRetried = isLocked,
): Promise<T> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      return await body()
    } catch (error) {
      if (!isRetried(error) || performance.now() > until) throw error
    }
    await delay(LOCK_RETRY_MS)
  }
}

/**
 * Rolls back an open transaction, unless SQLite has already ended it after an error. Also called
 * before each transaction: on a failing disk the last rollback may have failed, and later writes
 * would be lost with it.
 */
export function rollBack(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK')
}

/**
 * Throws NotConfigured if the file itself is a mount point, as after `docker run -v
 * listing.db:/data/listing.db`. Another process that serves the same file elsewhere would not see
 * this serving lock.
 */
export function assertNotMounted(path: string, mountInfo = '/proc/self/mountinfo'): void {
  if (!existsSync(path) || !readMountPoints(mountInfo).includes(realpathSync(path))) return
  throw new NotConfigured(
    `cannot use the database file ${path}: it is a mount point of its own, so that another process could serve the same ` +
      'file by another path; mount its folder instead',
  )
}

/** Empty if the system has no such list. */
function readMountPoints(mountInfo: string): string[] {
  let text: string
  try {
    text = readFileSync(mountInfo, 'utf8')
  } catch {
    return []
  }
  // The fifth field escapes white space and backslashes in octal.
  return text
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((field) =>
      field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    )
}
