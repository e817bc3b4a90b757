import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { programIn } from '../cli/program.ts'
import type { Cluster } from '../fixtures/postgres-cluster.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres-database.ts'
import { startTcpProxy, type TcpProxy } from '../fixtures/tcp-proxy.ts'
import { startFleet } from './fleet.ts'
import type { Battlefield, Fault } from './nemesis.ts'
import { startOtherProcess } from './other-process.ts'
import { keepStamps, readStamps } from './postgres-record.ts'
import { lockRow } from './row-lock.ts'

/** Processes that serve one database; the first reaches it by way of the proxy. */
const PROCESSES = 3
/** In which the server has noticed that a process of its own was killed, in milliseconds. */
const CRASH_MS = 5_000

export async function openPostgresBattlefield(
  t: { after(end: () => unknown): void },
  cluster: Cluster,
): Promise<Battlefield> {
  const program = programIn(t)
  const url = await createDatabase(cluster)
  const operator = await startOtherProcess(url)
  const proxy = await startTcpProxy(cluster.port)
  t.after(() => {
    operator.close()
    proxy.close()
  })
  const offsets = await keepStamps(url)
  const byProxy = url.replace(`:${cluster.port}/`, `:${proxy.port}/`)
  const fleet = await startFleet(program, [byProxy, ...Array(PROCESSES - 1).fill(url)])
  return {
    engine: 'postgres',
    operator,
    port: fleet.port,
    groups: [
      { 'process killed': fleet.kill, 'process stopped': fleet.pause },
      {
        'sessions terminated': terminateSessions(url),
        'backend killed': killBackend(url),
        'server restarted': restartServer(cluster),
        'servers missing': missing(url, 'servers'),
        'keys missing': missing(url, 'api_keys'),
        'row locked': lockRow(url),
        'table locked': lockTable(url),
      },
      {
        'network cut': cut(proxy),
        'network silent': silence(proxy),
        'network slow': slowDown(proxy),
        'connections reset': async () => proxy.reset(),
        'connections half closed': async (random) =>
          proxy.halfClose(random.pick(['there', 'back'])),
      },
    ],
    readRecord: (scene) => readStamps(url, scene, offsets),
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

function cut(proxy: TcpProxy): Fault {
  return async (random) => {
    proxy.cutAfter(Math.floor(random.between(0, 2_000)))
    await delay(random.between(50, 400))
    proxy.heal()
  }
}

function silence(proxy: TcpProxy): Fault {
  return async (random) => {
    proxy.swallow()
    await delay(random.between(100, 2_000))
    proxy.heal()
  }
}

/** By less than a request waits, or by more. */
function slowDown(proxy: TcpProxy): Fault {
  return async (random) => {
    proxy.slowDown(random.between(5, 700))
    await delay(random.between(100, 1_500))
    proxy.heal()
  }
}

const TRIES_MAX = 100

/** The server may be recovering. */
async function insist(url: string, statement: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await asAdmin(url, (client) => client.query(statement))
      return
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await delay(50)
    }
  }
}
