import { NotConfigured, AuthenticationFault } from '../model/faults.ts'
import { randomUUID } from 'node:crypto'
import { realpath, stat, statfs } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { createClaimQueue } from '../claims/queue.ts'
import { type Measures, OLD_SCHEMA } from '../model/health/health.ts'
import type { ServingStore } from '../database/store.ts'
import { registerBoot } from './claims/claim-rows.ts'
import { createClaims, SQLITE_QUEUE } from './claims/claims.ts'
import { type Clock, systemClock } from './claims/clock.ts'
import { createBatchTimer } from './claims/slow-batches.ts'
import { closeDatabase, COMMAND_LOCK_WAIT_MS, openDatabase, transact } from './database.ts'
import { unusable } from './errors.ts'
import { createCheckpointThread } from './file/checkpoint-thread.ts'
import { createCheckpoints, withCheckpoints } from './file/checkpoints.ts'
import { watchFiles } from './file/file-watch.ts'
import { holdFiles } from './file/held-files.ts'
import { openServedFile } from './file/served-file.ts'
import { keepMirrored } from './journal/keep-mirrored.ts'
import { openMirror } from './journal/mirror.ts'
import { managementConnection } from './management-connection.ts'
import { isUpToDate, migrate } from './migrate.ts'
import { findLastBackup } from '../database/last-backup.ts'

/** A command that writes to the file may hold it while the dashboard changes something. */
const SERVICE_WRITE_WAIT_MS = 2_000

/**
 * Opens the store for the only process that serves the file. Throws AlreadyServed if there is
 * another one, and NotConfigured if the file can't be used. `onFault` gets problems of the file
 * that no answer shows: a replaced file, a growing log, a slow disk.
 */
export async function openServingSqliteStore(
  path: string,
  clock: Clock = systemClock,
  onFault: (fault: unknown) => void = () => {},
): Promise<ServingStore> {
  const opened: (() => void | Promise<void>)[] = []
  const closeOpened = async () => {
    for (const close of opened.splice(0).toReversed()) await close()
  }
  try {
    assertSafeVersion()
    const bootId = clock.bootId ?? randomUUID()
    // Before migrating: a newer program must not change the schema under an older one that serves.
    const served = await openServedFile(path, bootId)
    opened.push(served.end)
    const { database } = served
    migrate(database)
    const mirror = await openMirror(database, path, onFault)
    // A connection opened on a read-only disk stays read-only permanently, and only a write reveals
    // it.
    transact(database, () => registerBoot(database, bootId))
    served.begin()

    const claiming = openDatabase(path, {
      synchronous: 'NORMAL',
      lockWaitMs: COMMAND_LOCK_WAIT_MS,
    })
    opened.push(() => closeDatabase(claiming))
    const timer = createBatchTimer(onFault)
    const watch = watchFiles(path, holdFiles(path, served.file, served.lock), clock, onFault)
    opened.push(watch.close)
    const waiting = { lockWaitMs: SERVICE_WRITE_WAIT_MS, watch }
    const managing = managementConnection(database, { ...waiting, mirror })
    const { isUnited, close } = keepMirrored(managing, mirror, onFault)
    opened.push(close)
    const claims = createClaims(claiming, bootId, clock, timer, {
      faultAt: watch.faultAt,
      isUnited,
    })
    const thread = createCheckpointThread(path, onFault)
    opened.push(thread.close)
    const checkpoints = createCheckpoints(claiming, [database], thread, timer)
    const queue = createClaimQueue([withCheckpoints(claims, checkpoints)], SQLITE_QUEUE)
    opened.push(queue.close)
    return {
      database: managing,
      counting: managementConnection(claiming, waiting),
      isServed: () => true,
      // An open store is prepared.
      prepare: async () => {},
      claim: queue.claim,
      probeClaims: queue.probe,
      readCounts: () => ({ claims: queue.counts, pools: {} }),
      measure: async () => ({
        ...(await measureFile(path)),
        lastBackupAt: await findLastBackup(managing),
      }),
      checkSchema: async () => checkSchema(database),
      close: closeOpened,
    }
  } catch (error) {
    await closeOpened()
    throw unusable(path, error) ?? error
  }
}

function checkSchema(database: DatabaseSync): void {
  try {
    if (isUpToDate(database)) return
  } catch (error) {
    if (error instanceof NotConfigured) throw error
    throw new AuthenticationFault('the schema cannot be read', { cause: error })
  }
  throw new NotConfigured(OLD_SCHEMA)
}

async function measureFile(path: string): Promise<Omit<Measures, 'lastBackupAt'>> {
  // SQLite names the log after the file itself, not after a link to it.
  const file = await realpath(path)
  const [database, log, disk] = await Promise.all([stat(file), stat(`${file}-wal`), statfs(file)])
  return {
    databaseBytes: database.size,
    logBytes: log.size,
    diskFreeBytes: disk.bavail * disk.bsize,
  }
}

/**
 * The first version that has the fix of the WAL-reset bug (https://sqlite.org/wal.html), then the
 * versions of two older lines that have it, too.
 */
const FIXED_IN = [3, 51, 3] as const

const BACKPORTS = [
  [3, 50, 7],
  [3, 44, 6],
] as const

/**
 * Throws NotConfigured for a SQLite that can damage the file if one thread copies the log while
 * another writes. Node.js brings one without this mistake, but may be built with the system's.
 */
export function assertSafeVersion(version = process.versions.sqlite ?? 'of unknown version'): void {
  if (isSafe(version)) return
  throw new NotConfigured(
    `this Node.js was built with SQLite ${version}, which can damage a database while two ` +
      `connections use it. Use a Node.js with SQLite ${FIXED_IN.join('.')} or newer, such as the ` +
      'one from nodejs.org',
  )
}

function isSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const [fixedMajor, fixedMinor, fixedPatch] = FIXED_IN
  if (major !== fixedMajor) return major > fixedMajor
  if (minor > fixedMinor) return true
  if (minor === fixedMinor) return patch >= fixedPatch
  return BACKPORTS.some(([, line, first]) => minor === line && patch >= first)
}
