import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { notFound } from '../../../../src/api/responses.ts'
import type { Response } from '../../../../src/http/message.ts'
import type { ServingStore } from '../../../../src/database/store.ts'
import { openServingSqliteStore } from '../../../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { commitFault, type Touched } from '../faults/fault.ts'
import type { Random } from '../../../fixtures/random.ts'
import { type Scene, operatorOf } from '../traffic/scene.ts'
import { keepStamps, readStamps } from '../record/sqlite-record.ts'
import type { Invariant } from '../record/violation.ts'
import { type Flaw, openFlawedEngine } from './sqlite-engine.ts'
import {
  assertCaught,
  assertNoAlarm,
  type EngineOnTrial,
  type Flawed,
  runTrial,
  SEED,
  type Trial,
} from './trial.ts'

/*
 * The checker can see. It finds the flaw of each flawed engine by what clients see. Under the same
 * traffic and faults, the copy without a flaw raises no alarm, nor does the real engine in
 * ../sqlite.test.ts.
 */

const TRIAL_MS = 2_200
/** On a slow machine a trial continues until the lists were missing this often. */
const OUTAGES_MIN = 6
/** Trials run at the same time because each of them mostly waits. */
const AT_A_TIME = 5

/** Invariants that find the flaw: with the store's record, and from clients alone. */
const CAUGHT_BY: [Flaw, byStore: Invariant[], byClients: Invariant[]][] = [
  ['check then set', ['I1', 'I7'], ['I1']],
  ['claim kept after a failed list', ['I3', 'I6'], ['I3']],
  ['key cached for 1.5 s', ['I1', 'I2', 'I4', 'I7'], ['I1', 'I2', 'I4']],
  ['stamp on 429', ['I2', 'I5', 'I6', 'I7'], ['I2', 'I5']],
  ['list cached for 1.5 s', ['I10'], ['I10']],
  ['now and then a failure', ['I11'], ['I11']],
]

suite('SQLite', { concurrency: AT_A_TIME }, () => {
  test('the copy without a flaw raises no alarm', async (t) => {
    assertNoAlarm(await tryFlawed(t, SEED, 'nothing', null))
  })

  for (const [flaw, byStore, byClients] of CAUGHT_BY)
    test(`the checker finds this flaw: ${flaw}`, (t) =>
      assertCaught(t, (seed, flawed) => tryFlawed(t, seed, flaw, flawed), { byStore, byClients }))

  test('the checker finds an answer with the sentence of another status', async (t) => {
    const trial = (seed: number, flawed: Flawed) =>
      tryEngine(t, seed, openServingSqliteStore, flawed, swapSentence)
    await assertCaught(t, trial, { byStore: ['I8'], byClients: ['I8'] })
  })
})

async function tryFlawed(
  t: TestContext,
  seed: number,
  flaw: Flaw,
  flawed: Flawed | null,
): Promise<Trial> {
  const open = async (path: string) => openFlawedEngine(path, flaw)
  return tryEngine(t, seed, open, flawed)
}

async function tryEngine(
  t: TestContext,
  seed: number,
  open: (path: string) => Promise<Pick<ServingStore, 'claim'> & { close(): unknown }>,
  flawed: Flawed | null,
  distort?: (response: Response) => Response,
): Promise<Trial> {
  const path = join(temporaryFolder(t), 'listing.db')
  const operator = await openSqliteStore(path, { create: true })
  keepStamps(path)
  const store = await open(path)
  t.after(async () => {
    await store.close()
    await operator.close()
  })
  const engine: EngineOnTrial = {
    store,
    operator: operatorOf(operator),
    readRecord: ({ subjects }) => readStamps(path, subjects),
    disturb: (scene, random, isOver) => failLists(path, scene, random, isOver),
    ...(distort === undefined ? {} : { distort }),
  }
  return runTrial(t, engine, seed, TRIAL_MS, flawed)
}

/** Renames the table of servers now and then. */
async function failLists(
  path: string,
  scene: Scene,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const database = new DatabaseSync(path, { timeout: 1_000 })
  // With this, views keep the old name of a renamed table, so that they miss it.
  database.exec('PRAGMA legacy_alter_table = ON')
  for (let times = 0; times < OUTAGES_MIN || !isOver(); times += 1) {
    await delay(random.between(100, 300))
    await commitFault('servers missing', { effect: { failures: ['list'] }, commit }, random, scene)
  }
  database.close()

  async function commit(): Promise<Touched> {
    database.exec('ALTER TABLE servers RENAME TO elsewhere')
    await delay(random.between(50, 250))
    database.exec('ALTER TABLE elsewhere RENAME TO servers')
    return {}
  }
}

/** Returns a 429 with the sentence of a 404. */
function swapSentence(response: Response): Response {
  return response.status === 429 ? { ...notFound, status: 429 } : response
}
