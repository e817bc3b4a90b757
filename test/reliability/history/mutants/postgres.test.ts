import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingStore } from '../../../../src/database/store.ts'
import { openPostgresStore, openServingPostgresStore } from '../../../../src/postgres/store.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../../fixtures/postgres/database.ts'
import { eventually } from '../../../fixtures/eventually.ts'
import { type Commit, commitFault } from '../faults/fault.ts'
import { AFTER_CRASH, AFTER_WAIT } from '../faults/postgres-faults.ts'
import type { Random } from '../../../fixtures/random.ts'
import { type Scene, operatorOf } from '../traffic/scene.ts'
import type { Invariant } from '../record/violation.ts'
import { keepStamps, readStamps } from '../record/postgres-record.ts'
import { lockRow } from '../faults/row-lock.ts'
import { type Flaw, openFlawedEngine } from './postgres-engine.ts'
import { assertCaught, assertNoAlarm, type Flawed, runTrial, SEED, type Trial } from './trial.ts'

/*
 * Two ways of limiting on PostgreSQL that look correct and are not. Their flaws show in the store's
 * own record. To a client, a stamp from before a long wait looks like an answer that took long.
 */

const TRIAL_MS = 4_000
/** On a slow machine a trial continues until its fault has happened this often. */
const TIMES_MIN = 3
const DISTURB_MAX_MS = 90_000

let cluster: Cluster
before(async () => {
  // The server writes asynchronous commits late, so that a crash loses them.
  cluster = await startCluster({ settings: { wal_writer_delay: '10s' } })
})
after(() => cluster.remove())

type Engine = Pick<ServingStore, 'claim'> & { close(): Promise<void> }
/** Resolves to true if the fault happened. */
type Disturb = (random: Random, scene: Scene) => Promise<boolean>

test('the checker finds the plain UPDATE while rows are locked', async (t) => {
  const engine = flawed('the plain UPDATE')
  const trial = (seed: number, flawed: Flawed) => tryEngine(t, seed, engine, lockRows, flawed)
  await assertCaught(t, trial, { byStore: ['I7'], byClients: null }, 3)
})

test('the real engine raises no alarm while rows are locked', async (t) => {
  assertNoAlarm(await tryEngine(t, SEED, openServingPostgresStore, lockRows, null))
})

test('the checker finds an asynchronous commit without the epoch row after a crash', async (t) => {
  const engine = flawed('asynchronous commit without the epoch row')
  const trial = (seed: number, flawed: Flawed) =>
    tryEngine(t, seed, engine, crashThatLosesClaims, flawed)
  await assertCaught(t, trial, { byStore: LOST_USE, byClients: null })
})

test('the real engine raises no alarm after a crash', async (t) => {
  assertNoAlarm(await tryEngine(t, SEED, openServingPostgresStore, crashAfterUse, null))
})

/** A lost use permits a second grant, and takes the cause from a grant and from a refusal. */
const LOST_USE: readonly Invariant[] = ['I1', 'I7', 'I2', 'I3', 'I5']

function flawed(flaw: Flaw): (url: string) => Promise<Engine> {
  return async (url) => openFlawedEngine(url, flaw)
}

/** The lock outlasts the second of a key, so that a request comes and waits. */
function lockRows(url: string): Disturb {
  const commit = lockRow(url, (random) => random.between(500, 1_100))
  return async (random, scene) => {
    const locks = Array.from({ length: 4 }, () =>
      commitFault('row locked', { effect: AFTER_WAIT, commit }, random, scene),
    )
    return (await Promise.all(locks)).includes(true)
  }
}

/** The server crashes right after a client got its 200. */
function crashAfterUse(url: string): Disturb {
  const commit = crash(url)
  return (random, scene) =>
    commitFault('backend killed', { effect: AFTER_CRASH, commit }, random, scene)
}

/**
 * Crashes in the same way, but counts only if the crash lost a recorded claim, because another
 * commit may have written the log meanwhile. The 200 of a lost claim has no entry in the record.
 */
function crashThatLosesClaims(url: string): Disturb {
  const commit: Commit = async (random, scene) => {
    let before: string[] = []
    const remember = async () => {
      before = await readLastUses(url)
    }
    const touched = await crash(url, remember)(random, scene)
    if (touched === null) return null
    let after = new Set<string>()
    // The server may still be recovering.
    await eventually(async () => {
      after = new Set(await readLastUses(url).catch(() => []))
      return after.size > 0
    })
    return { ...touched, isCutShort: before.every((claim) => after.has(claim)) }
  }
  return (random, scene) =>
    commitFault('backend killed', { effect: AFTER_CRASH, commit }, random, scene)
}

async function readLastUses(url: string): Promise<string[]> {
  return asAdmin(url, async (client) => {
    const { rows } = await client.query<{ claimed_at: string }>(
      'SELECT claimed_at::text FROM stamps',
    )
    return rows.map(({ claimed_at }) => claimed_at)
  })
}

function crash(url: string, beforeKill = async () => {}): Commit {
  return async (_, { operations }) => {
    const backend = await asAdmin(url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE application_name = 'server-listing' AND datname = current_database() LIMIT 1`,
      )
      return rows[0]!.pid
    }).catch(() => null)
    if (backend === null) return null
    const used = () =>
      operations.slice(-3).some(({ operation, status }) => operation === 'get' && status === 200)
    const until = performance.now() + 1_500
    while (!used() && performance.now() < until) await delay(1)
    await beforeKill()
    try {
      process.kill(backend, 'SIGKILL')
    } catch {
      // The engine has closed the connection meanwhile.
      return null
    }
    // The server recovers, and claims begin again.
    await delay(1_000)
    return {}
  }
}

async function tryEngine(
  t: TestContext,
  seed: number,
  open: (url: string) => Promise<Engine>,
  disturbing: (url: string) => Disturb,
  flawed: Flawed | null,
): Promise<Trial> {
  const url = await createDatabase(cluster)
  const operator = await openPostgresStore(url, { create: true })
  const offsets = await keepStamps(url)
  const store = await open(url)
  t.after(() => Promise.all([store.close(), operator.close()]))
  const disturb = disturbing(url)
  return runTrial(
    t,
    {
      store,
      operator: operatorOf(operator),
      readRecord: (scene) => readStamps(url, scene, offsets),
      async disturb(scene, random, isOver) {
        const until = performance.now() + DISTURB_MAX_MS
        for (let times = 0; times < TIMES_MIN || !isOver(); ) {
          assert.ok(performance.now() < until, `the fault happened ${times} times`)
          await delay(random.between(50, 300))
          if (await disturb(random, scene)) times += 1
        }
      },
    },
    seed,
    TRIAL_MS,
    flawed,
  )
}
