import { setTimeout as delay } from 'node:timers/promises'
import { SERVING } from '../../../../src/postgres/patience.ts'
import type { Cluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import { type Commit, type Fault, SHORT_STAY, type Stay, withEffect } from './fault.ts'
import { insist } from './insist.ts'
import { lockRow } from './row-lock.ts'
import { once } from '../../../fixtures/within.ts'

/** Time in which the server notices that one of its processes was killed, in milliseconds. */
const CRASH_MS = 5_000
/**
 * After a crash the service holds every key off for one second, from the first request that finds
 * the server again.
 */
export const AFTER_CRASH = {
  failures: ['list', 'authentication'],
  aftermathMs: 2_500,
  orphans: true,
} as const
/**
 * Covers a statement that waited for the end of the fault, and the connection that was abandoned
 * for it.
 */
export const AFTER_WAIT = { failures: ['list', 'authentication'], aftermathMs: 500 } as const

/** Faults of the server and its tables. */
export function postgresFaults(
  cluster: Cluster,
  url: string,
  stay = SHORT_STAY,
): Record<string, Fault> {
  return {
    ...withEffect(AFTER_CRASH, {
      'sessions terminated': terminateSessions(url),
      'backend killed': killBackend(url),
      'server restarted': restartServer(cluster),
    }),
    ...withEffect(AFTER_WAIT, {
      'servers missing': missing(url, 'servers'),
      'keys missing': missing(url, 'api_keys'),
      'list slow': slowLists(url),
      'row locked': lockRow(url, (random) => stay(random, 20, 1_200)),
      'table locked': lockTable(url, stay),
    }),
  }
}

const SERVICES = `FROM pg_stat_activity WHERE application_name = 'server-listing' AND datname = current_database()`

function terminateSessions(url: string): Commit {
  return async () => {
    const ended = await insist(url, `SELECT pg_terminate_backend(pid) ${SERVICES}`)
    return ended > 0 ? {} : null
  }
}

/**
 * The server treats the killed process as a crash. It ends every session, ours too, and recovers.
 */
function killBackend(url: string): Commit {
  return async () => {
    let isKilled = false
    await asAdmin(url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(`SELECT pid ${SERVICES} LIMIT 1`)
      const [backend] = rows
      if (backend === undefined) return
      const ended = once(client, 'end')
      process.kill(backend.pid, 'SIGKILL')
      isKilled = true
      await Promise.race([ended, delay(CRASH_MS)])
    }).catch(() => {
      // The server ends this session too, or is still recovering from the last crash.
    })
    await insist(url, 'SELECT 1')
    return isKilled ? {} : null
  }
}

function restartServer(cluster: Cluster): Commit {
  return async (random) => {
    await cluster.stop(random.chance(0.5) ? 'immediate' : 'fast')
    await delay(random.between(0, 300))
    await cluster.start()
    return {}
  }
}

function missing(url: string, table: string): Commit {
  return async (random) => {
    await insist(url, `ALTER TABLE ${table} RENAME TO elsewhere`)
    await delay(random.between(30, 400))
    await insist(url, `ALTER TABLE elsewhere RENAME TO ${table}`)
    return {}
  }
}

/**
 * Makes each list slow, within the service's limit or beyond it. Only the service waits: an
 * operator who changes a list would wait for each of its servers.
 */
function slowLists(url: string): Commit {
  return async (random) => {
    const sleep = `CASE current_setting('statement_timeout')
      WHEN '${SERVING.statementMs}ms' THEN pg_sleep(${random.between(0.1, 3)})::text ELSE '' END`
    await insist(
      url,
      `ALTER TABLE servers RENAME TO elsewhere;
       CREATE VIEW servers AS SELECT * FROM elsewhere WHERE (SELECT ${sleep}) = ''`,
    )
    await delay(random.between(300, 3_000))
    await insist(url, 'DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers')
    return {}
  }
}

function lockTable(url: string, stay: Stay): Commit {
  return async (random) => {
    const table = random.pick(['api_keys', 'servers', 'listing_revisions'])
    const seconds = stay(random, 20, 800) / 1_000
    await insist(
      url,
      `BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${seconds}); COMMIT`,
    )
    return {}
  }
}
