import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import { type Commit, type Fault, SHORT_STAY, type Stay, withEffect } from './fault.ts'
import { insist } from './insist.ts'
import { AFTER_CRASH, AFTER_WAIT } from './postgres-faults.ts'
import { type SetClock, stepClock } from './set-clock.ts'
import type { SmallDisk } from './small-disk.ts'

/**
 * After a step back, the epoch of a crash up to ten seconds before lies in the future. The service
 * sets it to the present and holds every key off for one second more.
 */
const AFTER_STEP = {
  failures: ['authentication'],
  aftermathMs: 1_000 + AFTER_WAIT.aftermathMs,
} as const
/** Time after which an operator restarts a server that has its disk back but does not recover. */
const PATIENCE_MS = 4_000
/** The last lines of the server's log in the error about a server that did not come back. */
const LOG_LINES = 60
/** All files of the server except those that it reads at its start. */
const SERVER_FILES = /^[0-9A-F]{24}$|^[0-9]+(_fsm|_vm)?$/

/** These faults belong in one group with those of the server, because a full disk stops it. */
export function machineFaults(
  cluster: Cluster,
  url: string,
  { clock, disk }: { clock: SetClock; disk: SmallDisk },
  stay = SHORT_STAY,
): Record<string, Fault> {
  return {
    ...withEffect(AFTER_STEP, { 'server clock set back': setBack(clock) }),
    ...withEffect(AFTER_CRASH, {
      'disk full': fillDisk(cluster, url, disk, stay),
      'disk read-only': protectDisk(cluster, url, disk, stay),
    }),
  }
}

/**
 * Sets the clock back only. A clock that is set forward says that a second has passed, and no
 * promise covers that.
 */
function setBack(clock: SetClock): Commit {
  return async (random, { operations }) => {
    operations.push(stepClock(clock, -Math.floor(random.between(2, 10)), 'step'))
    return {}
  }
}

/**
 * A server that needs another segment of its log stops until it gets one. A fresh server always
 * needs one.
 */
function fillDisk(cluster: Cluster, url: string, disk: SmallDisk, stay: Stay): Commit {
  return async (random) => {
    disk.fill()
    if (random.chance(0.7))
      await asAdmin(url, (client) => client.query('SELECT pg_switch_wal()')).catch(() => {})
    await delay(stay(random, 200, 2_000))
    disk.empty()
    await ensureRunning(cluster, url)
    return {}
  }
}

function protectDisk(cluster: Cluster, url: string, disk: SmallDisk, stay: Stay): Commit {
  return async (random) => {
    const count = disk.protect(SERVER_FILES)
    await delay(stay(random, 200, 2_000))
    disk.unprotect()
    await ensureRunning(cluster, url)
    return count > 0 ? {} : null
  }
}

/** The server may have given up, be about to, or not know that the disk works again. */
async function ensureRunning(cluster: Cluster, url: string): Promise<void> {
  let begun = performance.now()
  await insist(url, 'SELECT pg_switch_wal()', async () => {
    if (await cluster.isRunning()) {
      if (performance.now() - begun < PATIENCE_MS) return
      await cluster.stop('immediate').catch(() => {})
    }
    await cluster.start().catch(() => {})
    begun = performance.now()
  }).catch((cause: unknown) => {
    const last = cluster.log().split('\n').slice(-LOG_LINES).join('\n')
    throw new Error(
      `${String(cause)}\nThe server has its disk back, and its log ends in\n${last}`,
      {
        cause,
      },
    )
  })
}
