import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { hashApiKey } from '../../src/listing/api-key.ts'
import type { ServingStore } from '../../src/listing/store.ts'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { freshSeed, randomFrom } from '../history/random.ts'
import { activeKeys, keyOf } from './acts.ts'
import { readDatabase } from './content.ts'
import { createLedger, type Ledger } from './journal.ts'
import { compileWriter, type Role, startWriter } from './writer.ts'

/*
 * Processes that write a SQLite file are killed at any instant, the first ones of a file while they make it. Whatever one
 * of them acknowledged is found by the next, and of what it had under way all or nothing.
 */

const FILES = 9
const AT_A_TIME = 3
const KILLS_OF_A_FILE = 20
/** Kills of a file that fall into its making. */
const EARLY_KILLS = 3
const EARLY_MS_MAX = 30
/** What one says before it is killed, at most, and how long it goes on after that. */
const LINES_MAX = 30
const MORE_MS_MAX = 4

const random = randomFrom(freshSeed())

test('whatever a killed service acknowledged is there, and nothing is half done', async (t) => {
  await compileWriter(`sqlite:${join(temporaryFolder(t), 'listing.db')}`)
  const files = Array.from({ length: FILES }, () => join(temporaryFolder(t), 'listing.db'))
  const ledgers: Ledger[] = []
  const workers = Array.from({ length: AT_A_TIME }, async () => {
    for (let path = files.pop(); path !== undefined; path = files.pop())
      ledgers.push(await killAgainAndAgain(path, 'service'))
  })
  await Promise.all(workers)
  report(t, ledgers, FILES * KILLS_OF_A_FILE)
})

test('so it is of killed commands, beside a service that goes on', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  t.after(store.close)
  const over = new AbortController()
  const outcomes: string[] = []
  const serving = serveUntil(over.signal, path, store, outcomes)
  try {
    const ledger = await killAgainAndAgain(path, 'command')
    t.diagnostic(
      `${KILLS_OF_A_FILE} kills; ${ledger.acknowledged} acts were acknowledged, none is lost`,
    )
    assert.ok(ledger.acknowledged > KILLS_OF_A_FILE)
  } finally {
    over.abort()
    await serving
  }
  assert.ok(outcomes.includes('used'), 'the service did nothing')
})

/** Uses the active keys, whatever there are at the time, again and again. */
async function serveUntil(
  signal: AbortSignal,
  path: string,
  store: ServingStore,
  outcomes: string[],
): Promise<void> {
  while (!signal.aborted) {
    const { content } = await readDatabase(`sqlite:${path}`)
    for (const id of activeKeys(content)) {
      const used = store.useApiKey(hashApiKey(keyOf(id)), () => null)
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
  const uses = sum((one) => one.uses)
  const cutOff = sum((one) => one.cutOff)
  t.diagnostic(
    `${kills} kills; ${acknowledged} acts and ${uses} uses were acknowledged, none is lost`,
  )
  t.diagnostic(
    `${cutOff} acts were cut off; ${sum((one) => one.doneUnheard)} of them are done, the others not begun`,
  )
  assert.ok(
    acknowledged > kills && uses > kills && cutOff > kills / 10,
    'hardly anything was written',
  )
}

async function killAgainAndAgain(path: string, role: Role): Promise<Ledger> {
  const ledger = createLedger()
  for (let kill = 0; kill < KILLS_OF_A_FILE; kill += 1) {
    const writer = startWriter(`sqlite:${path}`, role)
    const isEarly = kill < EARLY_KILLS
    await writer.hasSaid(isEarly ? 1 : Math.floor(random.between(2, LINES_MAX)))
    await delay(random.between(0, isEarly ? EARLY_MS_MAX : MORE_MS_MAX))
    writer.kill()
    for (const line of await writer.ended) {
      assert.notEqual(line.line, 'failed')
      ledger.take(line)
    }
  }
  for (const line of await startWriter(`sqlite:${path}`, role, 1).ended) ledger.take(line)
  return ledger
}
