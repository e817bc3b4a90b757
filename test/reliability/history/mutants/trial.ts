import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Response } from '../../../../src/http/message.ts'
import type { ServingStore } from '../../../../src/database/store.ts'
import { check, checkAll, describe } from '../check/check.ts'
import { type Random, randomFrom } from '../../../fixtures/random.ts'
import { type Incident, now } from '../record/record.ts'
import { type Operator, type Scene, setScene } from '../traffic/scene.ts'
import type { StoreRecord } from '../record/sqlite-record.ts'
import { listenOn } from './listener.ts'
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

/** The invariants by which the checker finds a flaw. */
export interface Flawed {
  byStore: readonly Invariant[]
  /** From what clients see alone; null if they can't see the flaw. */
  byClients: readonly Invariant[] | null
}

export interface Trial {
  /** The violations in the whole record, and those in the clients' part of it. */
  found: Violation[]
  foundByClients: Violation[]
  /** The first ones, if stalls of the machine excuse failures. A correct engine has none. */
  alarms: (Violation | null)[]
}

/** A flaw that the checker has not found after this time is lost on it, in milliseconds. */
const TRIAL_MAX_MS = 90_000

/**
 * Runs traffic with faults for this many milliseconds, and checks the record. On a busy machine few
 * requests fit into that time. With a flaw, the run therefore takes as long again until it shows.
 */
export async function runTrial(
  t: TestContext,
  { store, operator, readRecord, disturb, distort = (response) => response }: EngineOnTrial,
  seed: number,
  ms: number,
  flawed: Flawed | null,
): Promise<Trial> {
  const random = randomFrom(seed)
  const listener = await listenOn(store, distort)
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
  do await delay(ms)
  while (!(await hasShown(flawed)) && now() - from < TRIAL_MAX_MS * 1_000)
  isOver = true
  await disturbed
  await traffic.stop()
  stalls.stop()
  await listener.close()
  const { operations, incidents } = scene
  const history = { ...(await readRecord(scene)), operations, incidents, calmFrom: null }
  const found = checkAll(history)
  const foundByClients = checkAll({ ...history, stamps: null, lastUses: null })
  t.diagnostic(`${history.operations.length} operations, ${history.stamps?.length ?? 'no'} stamps`)
  for (const [who, [one]] of Object.entries({ found, foundByClients }))
    if (one !== undefined)
      t.diagnostic(
        `${who} after ${Math.round((one.at - from) / 1_000)} ms: ${one.invariant}: ${one.words}`,
      )
  const excused = { ...history, incidents: [...incidents, ...stalled.incidents] }
  const alarms = [check(excused), check({ ...excused, stamps: null, lastUses: null })]
  return { found, foundByClients, alarms }

  /** The record lacks the requests under way. Only I6 notices, so it must not be the only one. */
  async function hasShown(flawed: Flawed | null): Promise<boolean> {
    if (flawed === null) return true
    const { byStore, byClients } = flawed
    const soFar = {
      operations: [...scene.operations],
      incidents: [...scene.incidents],
      calmFrom: null,
    }
    if (byClients !== null)
      return seenAs(checkAll({ ...soFar, stamps: null, lastUses: null }), byClients) !== null
    // The server of the record may be recovering from a fault.
    const record = await Promise.resolve(readRecord(scene)).catch(() => null)
    return record !== null && seenAs(checkAll({ ...soFar, ...record }), byStore) !== null
  }
}

/** Beside the flaw, a busy machine may show failures that no fault explains. */
function seenAs(found: readonly Violation[], by: readonly Invariant[]): Invariant | null {
  return found.find(({ invariant }) => by.includes(invariant))?.invariant ?? null
}

const SEEDS = [5, 7, 11] as const
export const SEED = SEEDS[0]

/**
 * Tries the flaw with every seed. Each trial must find it, from the whole record and, if clients
 * can see the flaw, from their part alone.
 */
export async function assertCaught(
  t: TestContext,
  attempt: (seed: number, flawed: Flawed) => Promise<Trial>,
  flawed: Flawed,
  atATime: 1 | 3 = 1,
): Promise<void> {
  const { byStore, byClients } = flawed
  const trials: Trial[] = []
  for (let from = 0; from < SEEDS.length; from += atATime) {
    const seeds = SEEDS.slice(from, from + atATime)
    trials.push(...(await Promise.all(seeds.map((seed) => attempt(seed, flawed)))))
  }
  const assertSeen = (who: string, seen: (Invariant | null)[]) => {
    const count = seen.filter((one) => one !== null).length
    const words = `seen by ${who} in ${count} of ${seen.length} trials`
    t.diagnostic(`${words}, as ${seen.join(', ')}`)
    assert.equal(count, seen.length, words)
  }
  assertSeen(
    'the whole record',
    trials.map(({ found }) => seenAs(found, byStore)),
  )
  if (byClients !== null)
    assertSeen(
      'clients alone',
      trials.map(({ foundByClients }) => seenAs(foundByClients, byClients)),
    )
}

export function assertNoAlarm({ alarms }: Trial): void {
  for (const one of alarms) assert.equal(one, null, one === null ? '' : describe(one))
}
