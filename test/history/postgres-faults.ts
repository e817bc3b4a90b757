import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { SERVING } from '../../src/postgres/database.ts'
import type { Cluster } from '../fixtures/postgres-cluster.ts'
import { asAdmin } from '../fixtures/postgres-database.ts'
import type { Machine } from './machine.ts'
import type { Fault } from './nemesis.ts'
import { lockRow } from './row-lock.ts'
import { type SetClock, stepClock } from './set-clock.ts'
import type { SmallDisk } from './small-disk.ts'

/** In which the server has noticed that a process of its own was killed, in milliseconds. */
const CRASH_MS = 5_000
/** In which it is up again, at the latest. */
const RECOVERY_MS = 60_000
/** After which an operator gives it up that has had its disk back, and starts it anew. */
const PATIENCE_MS = 4_000
/** All of the server's but what it is told of at its start. */
const SERVER_FILES = /^[0-9A-F]{24}$|^[0-9]+(_fsm|_vm)?$/

/** Of the server and of what is in it. */
export function postgresFaults(cluster: Cluster, url: string): Record<string, Fault> {
  return {
    'sessions terminated': terminateSessions(url),
    'backend killed': killBackend(url),
    'server restarted': restartServer(cluster),
    'servers missing': missing(url, 'servers'),
    'keys missing': missing(url, 'api_keys'),
    'list slow': slowLists(url),
    'row locked': lockRow(url),
    'table locked': lockTable(url),
  }
}

/** The clock and the disk of a server, and clocks for the services. */
export interface PostgresMachine extends Machine {
  server: SetClock
}

/** To be in a group with the faults above: what sleeps in the server sleeps by its clock. */
export function machineFaults(
  cluster: Cluster,
  url: string,
  { server, disk }: PostgresMachine,
): Record<string, Fault> {
  return {
    'server clock set back': setBack(server),
    'disk full': fillDisk(cluster, url, disk),
    'disk read-only': protectDisk(cluster, url, disk),
  }
}

const SERVICES = `FROM pg_stat_activity WHERE application_name = 'server-listing' AND datname = current_database()`

function terminateSessions(url: string): Fault {
  return () => insist(url, `SELECT pg_terminate_backend(pid) ${SERVICES}`)
}

/** The server takes that for a crash, ends every session, ours too, and recovers. */
function killBackend(url: string): Fault {
  return async () => {
    await asAdmin(url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(`SELECT pid ${SERVICES} LIMIT 1`)
      const [backend] = rows
      if (backend === undefined) return
      const ended = once(client, 'end')
      process.kill(backend.pid, 'SIGKILL')
      await Promise.race([ended, delay(CRASH_MS)])
    }).catch(() => {})
    await insist(url, 'SELECT 1')
  }
}

function restartServer(cluster: Cluster): Fault {
  return async (random) => {
    await cluster.stop(random.chance(0.5) ? 'immediate' : 'fast')
    await delay(random.between(0, 300))
    await cluster.start()
  }
}

function missing(url: string, table: string): Fault {
  return async (random) => {
    await insist(url, `ALTER TABLE ${table} RENAME TO elsewhere`)
    await delay(random.between(30, 400))
    await insist(url, `ALTER TABLE elsewhere RENAME TO ${table}`)
  }
}

/**
 * Reading any list takes so long, be it within what a service waits for or beyond it. Only a service waits: an operator
 * who changes a list would, for each of its servers.
 */
function slowLists(url: string): Fault {
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
  }
}

/** Back only: a clock that is set forward is outside the promise, since it says that a second has passed. */
function setBack(clock: SetClock): Fault {
  return async (random, { operations }) => {
    operations.push(stepClock(clock, -Math.floor(random.between(2, 10)), 'step'))
  }
}

/** Where the server needs another segment of its log, and a fresh one it always needs, it stops until it gets it. */
function fillDisk(cluster: Cluster, url: string, disk: SmallDisk): Fault {
  return async (random) => {
    disk.fill()
    if (random.chance(0.7))
      await asAdmin(url, (client) => client.query('SELECT pg_switch_wal()')).catch(() => {})
    await delay(random.between(200, 2_000))
    disk.empty()
    await ensureRunning(cluster, url)
  }
}

function protectDisk(cluster: Cluster, url: string, disk: SmallDisk): Fault {
  return async (random) => {
    disk.protect(SERVER_FILES)
    await delay(random.between(200, 2_000))
    disk.unprotect()
    await ensureRunning(cluster, url)
  }
}

/** It may have given up by itself, or be about to, or not know that all is well again. */
async function ensureRunning(cluster: Cluster, url: string): Promise<void> {
  let begun = performance.now()
  await insist(url, 'SELECT pg_switch_wal()', async () => {
    if (await cluster.isRunning()) {
      if (performance.now() - begun < PATIENCE_MS) return
      await cluster.stop('immediate').catch(() => {})
    }
    await cluster.start().catch(() => {})
    begun = performance.now()
  })
}

function lockTable(url: string): Fault {
  return async (random) => {
    const table = random.pick(['api_keys', 'servers', 'listing_revisions'])
    const seconds = random.between(0.02, 0.8)
    await insist(
      url,
      `BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${seconds}); COMMIT`,
    )
  }
}

/** The server may be recovering, which takes what it takes on a machine that is short of time. */
async function insist(url: string, statement: string, help = async () => {}): Promise<void> {
  const until = performance.now() + RECOVERY_MS
  for (;;) {
    try {
      await asAdmin(url, (client) => client.query(statement))
      return
    } catch (error) {
      if (performance.now() > until) throw error
      await help()
      await delay(50)
    }
  }
}
