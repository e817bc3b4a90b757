import { realpathSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { NotConfigured } from '../../model/faults.ts'
import { closeDatabase, openFile, schemaVersion } from '../database.ts'
import { tableNames } from '../schema.ts'
import { LOOK_MS } from './file-watch.ts'
import { identityOf } from './held-files.ts'
import { takeServingLock } from './serving-lock.ts'

/** A command that migrates the file may hold it while a service starts. */
const LOCK_WAIT_MS = 1_000
/** A timer may end some milliseconds early. */
const TIMER_MS = 50

/** A database file that only this process may serve. */
export interface ServedFile {
  database: DatabaseSync
  /** The identities of the file and of its serving lock, see `identityOf`. */
  file: string
  lock: string
  /** Call it before the first claim, when the schema is up to date. */
  begin(): void
  /** Closes the file and releases the lock, with a seal if the file has all claims. */
  end(): void
}

/**
 * Opens the file, which it creates if it is missing, and takes its serving lock. Resolves once no
 * claim that the file lacks can limit a key. Throws AlreadyServed if another process has the lock,
 * and NotConfigured if the file can't be used.
 */
export async function openServedFile(path: string, bootId: string): Promise<ServedFile> {
  const database = openFile(path, true)
  try {
    if (statSync(path).nlink > 1)
      throw new NotConfigured(
        `cannot use the database file ${path}: it has a second name (a hard link), by which another process could serve it`,
      )
    const [real, file] = [realpathSync(path), identityOf(path)]
    const lock = await takeServingLock(path, LOCK_WAIT_MS)
    try {
      if (lock.seal !== sealOf(real, file, bootId) && mayLackClaims(database, lock.seal))
        await outlastUnknownClaims()
    } catch (error) {
      lock.release()
      throw error
    }
    let schema: number | null = null
    /** Empty if the system can't tell. The lock is released either way. */
    const sealAtEnd = () => {
      try {
        return sealOf(real, file, bootId)
      } catch {
        return ''
      }
    }
    return {
      database,
      file,
      lock: lock.file,

      begin() {
        schema = readSchema(database)
      },

      end() {
        // A restore changes the schema's version. It has replaced claims that limit keys.
        const isRestored = readSchema(database) !== schema
        closeDatabase(database)
        if (schema === null) lock.release()
        else lock.release(isRestored ? '' : sealAtEnd())
      },
    }
  } catch (error) {
    closeDatabase(database)
    throw error
  }
}

/**
 * Describes the database as the process that served `file` leaves it. No program can set the time
 * of an inode's last change, so an equal seal at the next start proves that the file was neither
 * replaced nor restored. Stamps of another boot can't be compared with this boot's clock.
 */
function sealOf(path: string, file: string, bootId: string): string {
  return [bootId, file, changeOf(path), changeOf(`${path}-wal`)].join(' ')
}

/** Any process that opens the database makes an empty log, so it counts as none. */
function changeOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined || stats.size === 0n ? 'none' : String(stats.ctimeNs)
}

/**
 * Another process may have granted claims in a file that was here before, or may still grant some
 * until it looks at its files: its lock file or its folder was moved or removed.
 */
async function outlastUnknownClaims(): Promise<void> {
  await delay(LOOK_MS + CLAIM_INTERVAL_US / 1_000 + TIMER_MS)
}

/**
 * False for a file that was never served, if its lock file is new. A file without keys may lack
 * claims, too: a restore or an older copy took the keys away, and a command can bring them back.
 */
function mayLackClaims(database: DatabaseSync, seal: string | null): boolean {
  if (seal !== null) return true
  // An archive has no boots, but the instant of its backup.
  const tables = tableNames(database)
  return ['boots', 'last_backup'].some(
    (table) =>
      tables.includes(table) &&
      database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined,
  )
}

/** Null if the file can't be read. */
function readSchema(database: DatabaseSync): number | null {
  try {
    return schemaVersion(database)()
  } catch {
    return null
  }
}
