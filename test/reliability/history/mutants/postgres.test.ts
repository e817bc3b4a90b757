import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openPostgresStore } from '../../../../src/postgres/store.ts'
import { createDatabase } from '../../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../../fixtures/postgres/server.ts'
import { commitFault } from '../faults/fault.ts'
import { AFTER_WAIT } from '../faults/postgres-faults.ts'
import { lockRow } from '../faults/row-lock.ts'
import { keepStamps, readStamps } from '../record/postgres-record.ts'
import { operatorOf } from '../traffic/scene.ts'
import { openFlawedEngine } from './postgres-engine.ts'
import { assertCaught, type Flawed, runTrial, type Trial } from './trial.ts'

/*
 * A way of limiting on PostgreSQL that looks correct and is not. Its flaw shows in the store's own
 * record. To a client, a stamp from before a long wait looks like an answer that took long. The
 * real engine raises no alarm in ../postgres.test.ts.
 */

const TRIAL_MS = 4_000
/** On a slow machine a trial continues until its fault has happened this often. */
const TIMES_MIN = 3
const DISTURB_MAX_MS = 90_000

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('the checker finds the plain UPDATE while rows are locked', async (t) => {
  const trial = (seed: number, flawed: Flawed) => tryPlainUpdate(t, seed, flawed)
  await assertCaught(t, trial, { byStore: ['I7'], byClients: null }, 3)
})

async function tryPlainUpdate(t: TestContext, seed: number, flawed: Flawed): Promise<Trial> {
  const url = await createDatabase(server)
  const operator = await openPostgresStore(url, { create: true })
  const offsets = await keepStamps(url)
  const store = openFlawedEngine(url)
  t.after(() => Promise.all([store.close(), operator.close()]))
  // The lock outlasts the second of a key, so that a request comes and waits.
  const commit = lockRow(url, (random) => random.between(500, 1_100))
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
          const locks = Array.from({ length: 4 }, () =>
            commitFault('row locked', { effect: AFTER_WAIT, commit }, random, scene),
          )
          if ((await Promise.all(locks)).includes(true)) times += 1
        }
      },
    },
    seed,
    TRIAL_MS,
    flawed,
  )
}
