import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingStore } from '../../../src/listing/store.ts'
import { type Clock, systemClock } from '../../../src/sqlite/clock.ts'
import { openServingSqliteStore, openSqliteStore } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import type { Random } from '../random.ts'
import { now } from '../record.ts'
import { keepStamps, readStamps } from '../sqlite-record.ts'
import type { Invariant } from '../violation.ts'
import { type Flaw, openFlawedEngine } from './sqlite-engine.ts'
import {
  assertCaught,
  assertNoAlarm,
  type EngineOnTrial,
  runTrial,
  SEED,
  type Trial,
} from './trial.ts'

/*
 * The checker can see: engines with one flaw each are caught by what clients see of them, under the same traffic and
 * the same faults in which the real engine, and the copy without a flaw, raise no alarm.
 */

const TRIAL_MS = 2_500
/** Each trial mostly waits. */
const AT_A_TIME = 3

/** By the whole record, and by the clients' part of it alone. */
const CAUGHT_BY: [Flaw, byStore: Invariant[], byClients: Invariant[]][] = [
  ['check then set', ['I1', 'I7'], ['I1']],
  ['claim kept after a failed list', ['I3', 'I6'], ['I3']],
  ['key remembered for 1.5 s', ['I1', 'I2', 'I4', 'I7'], ['I1', 'I2', 'I4']],
  ['stamp on 429', ['I2', 'I5', 'I6', 'I7'], ['I2', 'I5']],
  ['list remembered for 0.5 s', ['I10'], ['I10']],
]

suite('SQLite', { concurrency: AT_A_TIME }, () => {
  test('the real engine raises no alarm', async (t) => {
    assertNoAlarm(await tryReal(t, SEED, systemClock))
  })

  test('the copy without a flaw raises no alarm', async (t) => {
    assertNoAlarm(await tryFlawed(t, SEED, 'nothing'))
  })

  for (const [flaw, byStore, byClients] of CAUGHT_BY)
    test(`${flaw}: caught`, (t) =>
      assertCaught((seed) => tryFlawed(t, seed, flaw), byStore, byClients))

  test('the second decided by a clock that is set: caught', async (t) => {
    const trial = (seed: number) =>
      tryReal(t, seed, { ...systemClock, monotonic: steppedClock() }, false)
    await assertCaught(trial, ['I1', 'I2'], ['I1', 'I2'])
  })
})

/** A wall clock that somebody sets every half second. */
function steppedClock(): Clock['monotonic'] {
  const from = now()
  const steps = [0, -7, 2, -1, 8, 5]
  return () => {
    const present = now()
    return present + steps[Math.floor((present - from) / 500_000) % steps.length]! * 1_000_000
  }
}

async function tryFlawed(t: TestContext, seed: number, flaw: Flaw): Promise<Trial> {
  return tryEngine(t, seed, async (path) => openFlawedEngine(path, flaw), true)
}

/** The real engine's stamps are moments of the clock that it is given: of another one they tell us nothing. */
async function tryReal(
  t: TestContext,
  seed: number,
  clock: Clock,
  hasStamps = true,
): Promise<Trial> {
  return tryEngine(t, seed, (path) => openServingSqliteStore(path, clock), hasStamps)
}

async function tryEngine(
  t: TestContext,
  seed: number,
  open: (path: string) => Promise<Pick<ServingStore, 'useApiKey'> & { close(): unknown }>,
  hasStamps: boolean,
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
    operator,
    readRecord: ({ subjects }) =>
      hasStamps ? readStamps(path, subjects) : { stamps: null, lastUses: null },
    disturb: (_, random, isOver) => failLists(path, random, isOver),
  }
  return runTrial(t, engine, seed, TRIAL_MS)
}

/** Now and then there is no table of servers. */
async function failLists(path: string, random: Random, isOver: () => boolean): Promise<void> {
  const database = new DatabaseSync(path, { timeout: 1_000 })
  // Views keep naming the table as it was called, so that it is missed.
  database.exec('PRAGMA legacy_alter_table = ON')
  while (!isOver()) {
    await delay(random.between(100, 300))
    database.exec('ALTER TABLE servers RENAME TO elsewhere')
    await delay(random.between(50, 250))
    database.exec('ALTER TABLE elsewhere RENAME TO servers')
  }
  database.close()
}
