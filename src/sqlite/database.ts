import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { NotConfigured } from '../listing/faults.ts'

export interface DatabaseOptions {
  /** NORMAL survives a crash of the process, FULL one of the machine as well. */
  synchronous: 'NORMAL' | 'FULL'
  /** How long a statement may wait for another process's lock, in milliseconds. Waiting stops the event loop. */
  lockWaitMs: number
}

/** Makes an empty database file, for its owner's eyes only, in a folder that is so too; leaves existing ones alone. */
export function createDatabaseFile(path: string): void {
  makeFolder(dirname(path))
  try {
    // SQLite gives the files beside the database its mode.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Not mkdir's own `recursive`, which never returns where a file system makes no folders, as below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile, or this one, as the first half of `new/..`.
    if (!existsSync(path)) throw error
  }
}

/** The ledger of a listing's database, and what the lock beside it consists of. */
const OUR_TABLES = new Set(['schema_migrations', 'holder'])

/** What a connection may keep of the file in memory. The rest is in the system's own cache, one copy away. */
const CACHE_KIB = 8_192
/** What the write-ahead log is cut back to after it had to grow, as it does beside a long import. */
const LOG_BYTES_KEPT = 16 * 1024 * 1024

/** Opens a connection to an existing database file. Another program's is left as it is, and thrown as NotConfigured. */
export function openDatabase(path: string, options: DatabaseOptions): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: options.lockWaitMs })
  try {
    assertOurs(database)
    database.exec(`
      PRAGMA journal_mode = WAL;
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

/** Before anything is written, and be it the journal mode. */
function assertOurs(database: DatabaseSync): void {
  const tables = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
  if (tables.length === 0 || tables.some(({ name }) => OUR_TABLES.has(name as string))) return
  throw new NotConfigured('the database belongs to another program: it has tables, but not ours')
}

/** Runs `body` as one transaction that holds the write lock from its beginning, so that it never has to be repeated. */
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

/** How long, and how often, something that found the file locked is tried again, in milliseconds. */
const LOCK_WAIT_MS = 2_000
const LOCK_RETRY_MS = 5

/**
 * Does a thing of one transaction, and again while another process holds the file's lock, without stopping the event
 * loop meanwhile. Throws SQLite's own error after `waitMs` of that.
 */
export async function whenUnlocked<T>(
  body: () => T | Promise<T>,
  waitMs = LOCK_WAIT_MS,
): Promise<T> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      return await body()
    } catch (error) {
      if (!isLocked(error) || performance.now() > until) throw error
    }
    await delay(LOCK_RETRY_MS)
  }
}

/**
 * Ends an open transaction without effect; after some errors SQLite has done so already. Done before anything is begun,
 * too: where the disk failed for a moment, ending the last one may have failed as well, and what is done within it
 * would be lost.
 */
export function rollBack(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK')
}

const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26

/** Whether another connection holds the lock that was asked for. */
export function isLocked(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY
}

/** A failure to open that will not pass by itself, as the sentence an operator needs; null for any other error. */
export function unusable(path: string, error: unknown): NotConfigured | null {
  const reason = reasonFor(error)
  if (reason === null) return null
  return new NotConfigured(`cannot use the database file ${path}: ${reason}`, { cause: error })
}

function reasonFor(error: unknown): string | null {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'this user may not write there'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of its path is a file, not a folder'
    case 'ENOENT':
      return 'a folder on its path cannot be made'
    case 'EISDIR':
      return 'it is a folder'
    case 'ENAMETOOLONG':
      return 'a part of its path is too long for a file system'
    case 'ELOOP':
      return 'its path goes round in a circle of links'
  }
  switch (primaryCode(error)) {
    case SQLITE_CANTOPEN:
      return 'it is a folder, or this user may not read and write it and its folder'
    case SQLITE_READONLY:
      return 'this user may not write it or its folder'
    case SQLITE_NOTADB:
      return 'it is not an SQLite database'
    case SQLITE_CORRUPT:
      return 'it is damaged; a backup is to be put in its place'
    case SQLITE_IOERR:
      return 'the system cannot read or write it'
  }
  return null
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

/** 0, which is no error of SQLite's, for what is none. */
function primaryCode(error: unknown): number {
  return ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff
}
