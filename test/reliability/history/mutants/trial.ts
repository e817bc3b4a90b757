import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnswer } from '../../../../src/api/answer.ts'
import { refusal } from '../../../../src/api/responses.ts'
import type { Response } from '../../../../src/http/message.ts'
import { LIMITS } from '../../../../src/http/limits.ts'
import { listen } from '../../../../src/http/listen.ts'
import type { ServingStore } from '../../../../src/listing/store.ts'
import { check, describe } from '../check/check.ts'
import { type Random, randomFrom } from '../../../fixtures/random.ts'
import { type Incident, now } from '../record/record.ts'
import { type Operator, type Scene, setScene } from '../traffic/scene.ts'
import type { StoreRecord } from '../record/sqlite-record.ts'
import { watchForStalls } from '../faults/stalls.ts'
import { startTraffic } from '../traffic/traffic.ts'
import type { Invariant, Violation } from '../record/violation.ts'

/** An engine, correct or flawed, under the API on a real socket in this process. */
export interface EngineOnTrial {
  store: Pick<ServingStore, 'claim'>
  operator: Operator
  /** Reads the store's own record at the end. */
  readRecord(scene: Scene): StoreRecord | Promise<StoreRecord>
  /** Injects faults until `isOver` returns true, and mends everything before it resolves. */
  disturb(scene: Scene, random: Random, isOver: () => boolean): Promise<void>
  /** A flaw of the API itself: it changes the response. */
  distort?: (response: Response) => Response
}

export interface Trial {
  /** The violation in the whole record, and the one in the clients' part of it. */
  found: Violation | null
  foundByClients: Violation | null
  /** The same violations, if stalls of the machine excuse failures. A correct engine has none. */
  alarms: (Violation | null)[]
}

/** Runs traffic with faults for this many milliseconds, and checks the record. */
export async function runTrial(
  t: TestContext,
  { store, operator, readRecord, disturb, distort = (response) => response }: EngineOnTrial,
  seed: number,
  ms: number,
): Promise<Trial> {
  const random = randomFrom(seed)
  const answer = createAnswer({ store, onFault: () => {} })
  const listener = await listen(
    {
      answer: async (request) => distort(await answer(request)),
      refuse: refusal,
      observe: () => {},
    },
    '127.0.0.1',
    0,
    { ...LIMITS, lingerMs: 100, drainGraceMs: 50 },
  )
  let isOver = false
  const scene = await setScene(operator)
  const from = now()
  const stalled = { incidents: [] as Incident[] }
  const stalls = watchForStalls(stalled)
  const traffic = await startTraffic(scene, {
    port: () => ({ port: listener.port, process: 1 }),
    random,
    pauseMs: 20,
  })
  const disturbed = disturb(scene, random.branch(), () => isOver)
  await delay(ms)
  isOver = true
  await disturbed
  await traffic.stop()
  stalls.stop()
  await listener.close()
  const { operations, incidents } = scene
  const history = { ...(await readRecord(scene)), operations, incidents, calmFrom: null }
  const found = check(history)
  const foundByClients = check({ ...history, stamps: null, lastUses: null })
  t.diagnostic(`${history.operations.length} operations, ${history.stamps?.length ?? 'no'} stamps`)
  for (const [who, one] of Object.entries({ found, foundByClients }))
    if (one !== null)
      t.diagnostic(
        `${who} after ${Math.round((one.at - from) / 1_000)} ms: ${one.invariant}: ${one.words}`,
      )
  const excused = { ...history, incidents: [...incidents, ...stalled.incidents] }
  const alarms = [check(excused), check({ ...excused, stamps: null, lastUses: null })]
  return { found, foundByClients, alarms }
}

const SEEDS = [5, 7, 11] as const
export const SEED = SEEDS[0]

/** Invariants that find a flaw. */
export interface Seen {
  by: readonly Invariant[]
}

/**
 * Tries the flaw with every seed. Each trial must find it, from the whole record and, if clients
 * can see the flaw, from their part alone.
 */
export async function assertCaught(
  t: TestContext,
  attempt: (seed: number) => Promise<Trial>,
  byStore: Seen,
  byClients: Seen | null,
  atATime: 1 | 3 = 1,
): Promise<void> {
  const trials: Trial[] = []
  for (let from = 0; from < SEEDS.length; from += atATime)
    trials.push(...(await Promise.all(SEEDS.slice(from, from + atATime).map(attempt))))
  assertRate(
    t,
    'the whole record',
    trials.map(({ found }) => found),
    byStore,
  )
  if (byClients !== null)
    assertRate(
      t,
      'clients alone',
      trials.map(({ foundByClients }) => foundByClients),
      byClients,
    )
}

function assertRate(
  t: TestContext,
  who: string,
  found: readonly (Violation | null)[],
  { by }: Seen,
): void {
  const seen = found.map((one) => one?.invariant ?? null)
  const count = seen.filter((one) => one !== null && by.includes(one)).length
  t.diagnostic(`seen by ${who} in ${count} of ${found.length} trials, as ${seen.join(', ')}`)
  assert.equal(count, found.length, `seen by ${who} in ${count} of ${found.length} trials`)
}

export function assertNoAlarm({ alarms }: Trial): void {
  for (const one of alarms) assert.equal(one, null, one === null ? '' : describe(one))
}
