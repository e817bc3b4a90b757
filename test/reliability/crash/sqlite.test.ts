import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { type Random, randomFrom, seedOfRun } from '../../fixtures/random.ts'
import { activeKeys, keyOf } from './acts.ts'
import { readDatabase } from '../model/content.ts'
import { createLedger, type Ledger } from './journal.ts'
import { compileWriter, type Role, startWriter } from './writer.ts'

/*
 * Processes that write a SQLite file are killed at any instant, the first ones while they create
 * it. The next process finds all acknowledged acts, and each unfinished one fully or not at all.
 */

const FILES = 9
const AT_A_TIME = 3
const KILLS_OF_A_FILE = 20
/** Kills while a file is created. */
const EARLY_KILLS = 3
const EARLY_MS_MAX = 30
/** At most this many lines before the kill, and this many milliseconds after them. */
const LINES_MAX = 30
const MORE_MS_MAX = 4

const SEED = seedOfRun()
const random = randomFrom(SEED)

test('all that a killed service acknowledged is stored, and no act in part', async (t) => {
  t.diagnostic(`SEED=${SEED}`)
  await compileWriter(`sqlite:${join(temporaryFolder(t), 'listing.db')}`)
  const files = Array.from({ length: FILES }, () => ({
    path: join(temporaryFolder(t), 'listing.db'),
    own: random.branch(),
  }))
  const ledgers: Ledger[] = []
  const workers = Array.from({ length: AT_A_TIME }, async () => {
    for (let file = files.pop(); file !== undefined; file = files.pop())
      ledgers.push(await killAgainAndAgain(file.path, 'service', file.own))
  })
  await Promise.all(workers)
  report(t, ledgers, FILES * KILLS_OF_A_FILE)
})

test('a killed command loses nothing while the service keeps running', async (t) => {
  t.diagnostic(`SEED=${SEED}`)
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  t.after(store.close)
  const over = new AbortController()
  const outcomes: string[] = []
  const serving = serveUntil(over.signal, path, store, outcomes)
  try {
    const ledger = await killAgainAndAgain(path, 'command', random.branch())
    t.diagnostic(
      `${KILLS_OF_A_FILE} kills; ${ledger.acknowledged} acts were acknowledged, none was lost`,
    )
    assert.ok(ledger.acknowledged > KILLS_OF_A_FILE)
  } finally {
    over.abort()
    await serving
  }
  assert.ok(outcomes.includes('granted'), 'the service granted no claim')
})

/** Claims with all active keys, again and again. */
async function serveUntil(
  signal: AbortSignal,
  path: string,
  store: ServingStore,
  outcomes: string[],
): Promise<void> {
  while (!signal.aborted) {
    const { content } = await readDatabase(`sqlite:${path}`)
    for (const id of activeKeys(content)) {
      const used = store.claim(hashApiKey(keyOf(id)), NO_LISTINGS)
      outcomes.push(
        await used.then(
          ({ outcome }) => outcome,
          (fault: Error) => fault.name,
        ),
      )
    }
    await delay(20)
  }
}

function report(t: TestContext, ledgers: readonly Ledger[], kills: number): void {
  const sum = (of: (ledger: Ledger) => number) => ledgers.reduce((total, one) => total + of(one), 0)
  const acknowledged = sum((one) => one.acknowledged)
  const claims = sum((one) => one.claims)
  const cutOff = sum((one) => one.cutOff)
  t.diagnostic(
    `${kills} kills; ${acknowledged} acts and ${claims} claims were acknowledged, none was lost`,
  )
  t.diagnostic(
    `${cutOff} acts were cut off; ${sum((one) => one.doneUnacknowledged)} of them are stored, the others are not`,
  )
  assert.ok(
    acknowledged > kills && claims > kills && cutOff > kills / 10,
    'hardly anything was written',
  )
}

async function killAgainAndAgain(path: string, role: Role, own: Random): Promise<Ledger> {
  const ledger = createLedger()
  for (let kill = 0; kill < KILLS_OF_A_FILE; kill += 1) {
    const writer = startWriter(`sqlite:${path}`, role, drawSeed(own))
    const isEarly = kill < EARLY_KILLS
    await writer.hasPrinted(isEarly ? 1 : Math.floor(own.between(2, LINES_MAX)))
    await delay(own.between(0, isEarly ? EARLY_MS_MAX : MORE_MS_MAX))
    writer.kill()
    for (const line of await writer.ended) {
      assert.ok(line.line !== 'failed', JSON.stringify(line))
      ledger.take(line)
    }
  }
  for (const line of await startWriter(`sqlite:${path}`, role, drawSeed(own), 1).ended)
    ledger.take(line)
  return ledger
}

function drawSeed(own: Random): number {
  return Math.floor(own.between(0, 2 ** 31))
}
