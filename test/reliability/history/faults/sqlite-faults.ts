import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet } from '../traffic/fleet.ts'
import { type Commit, type Fault, SHORT_STAY, type Stay, withEffect } from './fault.ts'
import type { OtherProcess } from '../traffic/other-process.ts'
import type { SmallDisk } from './small-disk.ts'

/** Longer than the longest fault, and than SQLite's wait for a lock beside it. */
const INSIST_MS = 20_000
/** Steps of a query that only takes time. */
const STEPS_MEASURED = 500_000

/** Faults in the file. `measureSlowness` measures `stepsPerMs`. */
export function fileFaults(intruder: OtherProcess, stepsPerMs: number): Record<string, Fault> {
  return {
    ...withEffect({ failures: ['list'] }, { 'servers missing': missing(intruder, 'servers') }),
    ...withEffect(
      { failures: ['authentication'] },
      {
        'keys missing': missing(intruder, 'api_keys'),
        'list slow': slowLists(intruder, stepsPerMs),
      },
    ),
  }
}

/** Faults of the machine: its disk, and the wall clock, which decides nothing on SQLite. */
export function machineFaults(
  intruder: OtherProcess,
  fleet: Fleet,
  disk: SmallDisk,
  stay = SHORT_STAY,
): Record<string, Fault> {
  return {
    ...withEffect(
      { failures: [] },
      {
        'clock set': async (random, { operations }) => {
          operations.push(fleet.setClock(random))
          return {}
        },
      },
    ),
    ...withEffect(
      { failures: ['authentication', 'list'] },
      {
        'disk full': fillDisk(intruder, disk, stay),
        'disk read-only': protectDisk(disk, stay),
      },
    ),
  }
}

/**
 * Lasting faults: a snapshot that another program reads, which touches nothing, and the write lock,
 * which stops every claim.
 */
export function fileStaying(path: string, locker: OtherProcess, ms: number): Record<string, Fault> {
  return {
    ...withEffect({ failures: [] }, { 'a snapshot left open': holdSnapshot(path, ms) }),
    ...withEffect({ failures: ['authentication'] }, { 'file locked': lockFile(locker, () => ms) }),
  }
}

function holdSnapshot(path: string, ms: number): Commit {
  return async () => {
    const database = new DatabaseSync(path, { readOnly: true })
    database.exec('BEGIN; SELECT count(*) FROM api_keys')
    await delay(ms)
    database.close()
    return {}
  }
}

/** Holds the write lock, sometimes for longer than a request waits. */
export function lockFile(locker: OtherProcess, stay = SHORT_STAY): Commit {
  return async (random) => {
    await insist(() => locker.execute('BEGIN IMMEDIATE'))
    await delay(stay(random, 5, 1_300))
    await locker.execute('ROLLBACK')
    return {}
  }
}

function missing(intruder: OtherProcess, table: string): Commit {
  return async (random) => {
    await insist(() => intruder.execute(`ALTER TABLE ${table} RENAME TO elsewhere`))
    await delay(random.between(30, 400))
    await insist(() => intruder.execute(`ALTER TABLE elsewhere RENAME TO ${table}`))
    return {}
  }
}

/**
 * Longest time for one list, in milliseconds. The lists of all keys, read in sequence, must not
 * outlast a client's patience.
 */
const LIST_MS_MAX = 80

/**
 * Makes each list slow. SQLite reads in the process that asks, and that process does nothing else
 * meanwhile. To other clients it looks like a stopped process that holds the file's lock.
 */
function slowLists(intruder: OtherProcess, stepsPerMs: number): Commit {
  return async (random) => {
    const steps = Math.ceil(random.between(10, LIST_MS_MAX) * stepsPerMs)
    await insist(() =>
      intruder.execute(
        `BEGIN IMMEDIATE; ALTER TABLE servers RENAME TO elsewhere;
         CREATE VIEW servers AS SELECT * FROM elsewhere WHERE (${countTo(steps)}) > 0; COMMIT`,
      ),
    )
    await delay(random.between(200, 1_500))
    await insist(() =>
      intruder.execute(
        'BEGIN IMMEDIATE; DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers; COMMIT',
      ),
    )
    return {}
  }
}

export async function measureSlowness(intruder: OtherProcess): Promise<number> {
  const startedAt = performance.now()
  await intruder.execute(countTo(STEPS_MEASURED))
  return STEPS_MEASURED / (performance.now() - startedAt)
}

function countTo(steps: number): string {
  return `WITH RECURSIVE steps (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM steps WHERE n < ${steps})
    SELECT count(*) FROM steps`
}

function fillDisk(intruder: OtherProcess, disk: SmallDisk, stay: Stay): Commit {
  return async (random) => {
    // Otherwise the log has room that SQLite overwrites.
    await intruder.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    disk.fill()
    await delay(stay(random, 100, 2_000))
    disk.empty()
    return {}
  }
}

/** Leaves out the index of the log, which is shared memory on any disk. */
function protectDisk(disk: SmallDisk, stay: Stay): Commit {
  return async (random) => {
    const count = disk.protect(/^listing\.db(-wal)?$/)
    await delay(stay(random, 100, 2_000))
    disk.unprotect()
    return count > 0 ? {} : null
  }
}

/** Repeats the work while another process holds the file or a disk fault is on. */
async function insist(work: () => Promise<void>): Promise<void> {
  const until = performance.now() + INSIST_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > until) throw error
      await delay(20)
    }
  }
}
