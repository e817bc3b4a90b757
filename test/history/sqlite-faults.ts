import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import type { Fault } from './nemesis.ts'
import type { OtherProcess } from './other-process.ts'
import type { SmallDisk } from './small-disk.ts'

const TRIES_MAX = 20
/** Steps of a query that does nothing but take time. */
const STEPS_MEASURED = 500_000

/** Of what is in the file. `stepsPerMs` is what was measured. */
export function fileFaults(intruder: OtherProcess, stepsPerMs: number): Record<string, Fault> {
  return {
    'servers missing': missing(intruder, 'servers'),
    'keys missing': missing(intruder, 'api_keys'),
    'list slow': slowLists(intruder, stepsPerMs),
  }
}

/** Of the machine: its disk, and the wall clock, which decides nothing here. */
export function machineFaults(
  intruder: OtherProcess,
  fleet: Fleet,
  disk: SmallDisk,
): Record<string, Fault> {
  return {
    'clock set': async (random, { operations }) => {
      operations.push(fleet.setClock(random))
    },
    'disk full': fillDisk(intruder, disk),
    'disk read-only': protectDisk(disk),
  }
}

/** The writer's lock, for longer than a request waits for it, too. */
export function lockFile(locker: OtherProcess): Fault {
  return async (random) => {
    await insist(() => locker.execute('BEGIN IMMEDIATE'))
    await delay(random.between(5, 1_300))
    await locker.execute('ROLLBACK')
  }
}

function missing(intruder: OtherProcess, table: string): Fault {
  return async (random) => {
    await insist(() => intruder.execute(`ALTER TABLE ${table} RENAME TO elsewhere`))
    await delay(random.between(30, 400))
    await insist(() => intruder.execute(`ALTER TABLE elsewhere RENAME TO ${table}`))
  }
}

/** Of one list, in milliseconds: those of all keys, read one after the other, are not to outlast a client's patience. */
const LIST_MS_MAX = 80

/**
 * Reading any list takes so long. SQLite reads in the process that asks, which does nothing else meanwhile: so this is
 * for the other clients what a stopped process is, with the file's lock in its hand.
 */
function slowLists(intruder: OtherProcess, stepsPerMs: number): Fault {
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

function fillDisk(intruder: OtherProcess, disk: SmallDisk): Fault {
  return async (random) => {
    // Else the log has room that is written again.
    await intruder.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    disk.fill()
    await delay(random.between(100, 2_000))
    disk.empty()
  }
}

/** Not the index of the log: it is memory that processes share, on any disk. */
function protectDisk(disk: SmallDisk): Fault {
  return async (random) => {
    disk.protect(/^listing\.db(-wal)?$/)
    await delay(random.between(100, 2_000))
    disk.unprotect()
  }
}

/** The file may be in somebody else's hands for a while. */
async function insist(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await delay(20)
    }
  }
}
