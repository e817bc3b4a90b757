import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingStore } from '../../../src/listing/store.ts'
import { openPostgresStore, openServingPostgresStore } from '../../../src/postgres/store.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres-cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres-database.ts'
import type { Fault } from '../nemesis.ts'
import { keepStamps, readStamps } from '../postgres-record.ts'
import { lockRow } from '../row-lock.ts'
import { type Flaw, openFlawedEngine } from './postgres-engine.ts'
import { assertCaught, assertNoAlarm, runTrial, SEED, type Trial } from './trial.ts'

/*
 * The same on PostgreSQL, with the two ways of limiting that look right and are not. What is wrong with them shows in
 * the store's own record; to a client a stamp from before a long wait looks like an answer that was long on its way.
 */

const TRIAL_MS = 4_000

let cluster: Cluster
before(async () => {
  // What is not waited for is written late: a crash then loses what it can lose.
  cluster = await startCluster({ settings: { wal_writer_delay: '10s' } })
})
after(() => cluster.remove())

type Engine = Pick<ServingStore, 'useApiKey'> & { close(): Promise<void> }

test('the plain UPDATE while rows are locked: caught', async (t) => {
  const engine = flawed('the plain UPDATE')
  await assertCaught((seed) => tryEngine(t, seed, engine, lockRows), ['I7'], null)
})

test('the real engine while rows are locked: no alarm', async (t) => {
  assertNoAlarm(await tryEngine(t, SEED, openServingPostgresStore, lockRows))
})

test('an asynchronous commit without the epoch row, and a crash: caught', async (t) => {
  const engine = flawed('asynchronous commit without the epoch row')
  await assertCaught((seed) => tryEngine(t, seed, engine, crashAfterUse), ['I1', 'I7'], null)
})

test('the real engine, and a crash: no alarm', async (t) => {
  assertNoAlarm(await tryEngine(t, SEED, openServingPostgresStore, crashAfterUse))
})

function flawed(flaw: Flaw): (url: string) => Promise<Engine> {
  return async (url) => openFlawedEngine(url, flaw)
}

/** Long enough for a request to come whose key's second is over, and to wait. */
function lockRows(url: string): Fault {
  const lock = lockRow(url, 500, 1_100)
  return async (random, scene) => {
    await Promise.all(Array.from({ length: 4 }, () => lock(random, scene)))
  }
}

/** The server crashes in the moment in which a client has its 200. */
function crashAfterUse(url: string): Fault {
  return async (_, { operations }) => {
    const backend = await asAdmin(url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE application_name = 'server-listing' AND datname = current_database() LIMIT 1`,
      )
      return rows[0]!.pid
    }).catch(() => null)
    if (backend === null) return
    const used = () =>
      operations.slice(-3).some(({ operation, status }) => operation === 'get' && status === 200)
    const until = performance.now() + 1_500
    while (!used() && performance.now() < until) await delay(1)
    process.kill(backend, 'SIGKILL')
    // It recovers, and uses begin again.
    await delay(1_000)
  }
}

async function tryEngine(
  t: TestContext,
  seed: number,
  open: (url: string) => Promise<Engine>,
  faultOf: (url: string) => Fault,
): Promise<Trial> {
  const url = await createDatabase(cluster)
  const operator = await openPostgresStore(url)
  const offsets = await keepStamps(url)
  const store = await open(url)
  t.after(() => Promise.all([store.close(), operator.close()]))
  const fault = faultOf(url)
  return runTrial(
    t,
    {
      store,
      operator,
      readRecord: (scene) => readStamps(url, scene, offsets),
      async disturb(scene, random, isOver) {
        while (!isOver()) {
          await delay(random.between(50, 300))
          await fault(random, scene)
        }
      },
    },
    seed,
    TRIAL_MS,
  )
}
