import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnswer } from '../../../src/api/answer.ts'
import { refusal } from '../../../src/api/responses.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import { listen } from '../../../src/http/listen.ts'
import type { ServingStore } from '../../../src/listing/store.ts'
import { check, describe } from '../check.ts'
import { type Random, randomFrom } from '../random.ts'
import { now } from '../record.ts'
import { type Operator, type Scene, setScene } from '../scene.ts'
import type { StoreRecord } from '../sqlite-record.ts'
import { startTraffic } from '../traffic.ts'
import type { Invariant, Violation } from '../violation.ts'

/** An engine, right or wrong, under the API on a real socket in this process. */
export interface EngineOnTrial {
  store: Pick<ServingStore, 'useApiKey'>
  operator: Operator
  /** Reads the store's own record in the end. */
  readRecord(scene: Scene): StoreRecord | Promise<StoreRecord>
  /** What goes wrong meanwhile, until it is told to stop; everything is mended when it returns. */
  disturb(scene: Scene, random: Random, isOver: () => boolean): Promise<void>
}

export interface Trial {
  /** What the whole record contradicts, and what the clients' part of it does alone. */
  found: Violation | null
  foundByClients: Violation | null
}

/** Traffic with faults for so many milliseconds, and what the checker makes of it. */
export async function runTrial(
  t: TestContext,
  { store, operator, readRecord, disturb }: EngineOnTrial,
  seed: number,
  ms: number,
): Promise<Trial> {
  const random = randomFrom(seed)
  const listener = await listen(
    { answer: createAnswer({ store, onFault: () => {} }), refuse: refusal, observe: () => {} },
    '127.0.0.1',
    0,
    { ...LIMITS, lingerMs: 100, drainGraceMs: 50 },
  )
  let isOver = false
  const scene = await setScene(operator)
  const from = now()
  const traffic = await startTraffic(scene, { port: () => listener.port, random, pauseMs: 20 })
  const disturbed = disturb(scene, random.branch(), () => isOver)
  await delay(ms)
  isOver = true
  await disturbed
  await traffic.stop()
  await listener.close()
  const history = { ...(await readRecord(scene)), operations: scene.operations, calmFrom: null }
  const found = check(history)
  const foundByClients = check({ ...history, stamps: null, lastUses: null })
  t.diagnostic(`${history.operations.length} operations, ${history.stamps?.length ?? 'no'} stamps`)
  for (const [who, one] of Object.entries({ found, foundByClients }))
    if (one !== null)
      t.diagnostic(
        `${who} after ${Math.round((one.at - from) / 1_000)} ms: ${one.invariant}: ${one.words}`,
      )
  return { found, foundByClients }
}

/** Of the trials of an engine; a machine that is short of time may need more than the first to see a flaw. */
const SEEDS = [5, 7, 11] as const
export const SEED = SEEDS[0]

/** The flaw is seen by one of these invariants, and by clients alone too, if there is a list for them. */
export async function assertCaught(
  attempt: (seed: number) => Promise<Trial>,
  byStore: readonly Invariant[],
  byClients: readonly Invariant[] | null,
): Promise<void> {
  const seen: string[] = []
  for (const seed of SEEDS) {
    const { found, foundByClients } = await attempt(seed)
    const isSeen = found !== null && byStore.includes(found.invariant)
    const isSeenByClients =
      byClients === null ||
      (foundByClients !== null && byClients.includes(foundByClients.invariant))
    if (isSeen && isSeenByClients) return
    seen.push(
      `${found?.invariant ?? 'nothing'}, by clients ${foundByClients?.invariant ?? 'nothing'}`,
    )
  }
  assert.fail(`seen: ${seen.join('; ')}`)
}

export function assertNoAlarm({ found, foundByClients }: Trial): void {
  for (const one of [found, foundByClients])
    assert.equal(one, null, one === null ? '' : describe(one))
}
