import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { type Random, randomFrom, seedOfRun } from '../../fixtures/random.ts'
import { openStage, type Stage } from '../../records/stage.ts'
import { operationOf } from './scenes/dashboard.ts'
import { differenceFrom, shapeOf } from './shape.ts'
import { bounded, type Operation, runUndisturbed } from './sweep.ts'
import type { Dump, Tables } from './tables.ts'
import type { Disturbance, Trap } from './trap.ts'
import { visitsOf } from './scenes/visits.ts'

/**
 * Which pairs run: this many drawn from the seed, or each act before each act, with a fault at each
 * call.
 */
export interface PairsPlan<D> {
  disturbances: readonly D[]
  count: number | 'all'
}

/** Any act of the dashboard. */
type Act = Operation<unknown>

/**
 * One act fails at one of its calls, perhaps without a rollback. Then another act runs on the same
 * connections.
 */
export function disturbedPairs<D extends Disturbance>(
  open: OpenDatabase,
  trap: Trap<D>,
  { disturbances, count }: PairsPlan<D>,
): void {
  test('pairs: an act after a failed one is done, and all it acknowledged is stored', async (t) => {
    const seed = seedOfRun()
    const stage = await openStage(t, 'scene', open)
    const acts = await actsOf(stage)
    for (const disturbance of disturbances) {
      const known = new Map<string, Known>()
      let tried = 0
      let compared = 0
      for (const { first, second, at } of pairsOf(acts, count, randomFrom(seed))) {
        const { after } = await learn(second, stage.tables, trap, disturbance, known)
        const { calls } = await learn(first, stage.tables, trap, disturbance, known)
        for (const n of at(calls)) {
          const label = `${first.name}, call ${n} ${disturbance.name}, then ${second.name}, SEED=${seed}`
          tried += 1
          await stage.tables.restore()
          const before = await stage.tables.dump()
          // The claim of the pair before has a step left that is no part of the first act.
          await turn()
          trap.set(n, disturbance, first.leftOut)
          await bounded(first.run(), label).finally(trap.lift)
          // If the first act was done without an answer, any answer to the second one is right.
          if (!(await isAsBefore(stage.tables, before))) {
            await bounded(second.run(), label)
            continue
          }
          compared += 1
          await assertDone(second, stage.tables, before, after, label)
          await assertClaimed(stage, after, label)
        }
      }
      t.diagnostic(
        `SEED=${seed}; ${tried} pairs ${disturbance.name}; in ${compared} the first was undone and the second done`,
      )
      assert.ok(compared * 4 > tried, 'fewer than a quarter of the first acts were undone')
    }
  })
}

async function actsOf(stage: Stage): Promise<Act[]> {
  const visits = await visitsOf(stage, (file) => file !== 'setup')
  return visits
    .filter(({ kind }) => kind !== 'reading')
    .map((visit) => operationOf(stage, visit) as Act)
}

/** No earlier failure may block a claim. The key is unknown only if the second act deleted it. */
async function assertClaimed({ dashboard, named }: Stage, after: Dump, label: string) {
  const [id, key] = [named.keyId2!, named.wholeKey2!]
  const { outcome } = await dashboard.store.claim(hashApiKey(key), NO_LISTINGS)
  const isStored = after.get('api_keys')?.some((row) => row.includes(id)) ?? false
  assert.equal(outcome !== 'unknown', isStored, `${label}, then a claim`)
}

interface Pair {
  first: Act
  second: Act
  /** The calls of the first act that fail, one per run. */
  at(calls: number): number[]
}

function pairsOf(acts: readonly Act[], count: number | 'all', random: Random): Pair[] {
  if (count !== 'all')
    return Array.from({ length: count }, () => ({
      first: random.pick(acts),
      second: random.pick(acts),
      at: (calls) => [Math.ceil(random.between(0, calls))],
    }))
  return acts.flatMap((first) => acts.map((second) => ({ first, second, at: everyCall })))
}

function everyCall(calls: number): number[] {
  return Array.from({ length: calls }, (_, index) => index + 1)
}

interface Known {
  calls: number
  /** The rows of all tables afterwards. */
  after: Dump
}

async function learn<D extends Disturbance>(
  act: Act,
  tables: Tables,
  trap: Trap<D>,
  disturbance: D,
  known: Map<string, Known>,
): Promise<Known> {
  const found = known.get(act.name)
  if (found !== undefined) return found
  const after = await runUndisturbed(act, tables)
  await tables.restore()
  trap.set(Number.POSITIVE_INFINITY, disturbance, act.leftOut)
  await bounded(act.run(), act.name).finally(trap.lift)
  const learned = { calls: trap.calls(), after }
  known.set(act.name, learned)
  return learned
}

async function isAsBefore(tables: Tables, before: Dump): Promise<boolean> {
  const present = shapeOf(await tables.dump(), before)
  return differenceFrom(shapeOf(before, before), present, []) === null
}

/** Reads on a connection of its own, which sees only what is committed. */
async function assertDone(
  act: Act,
  tables: Tables,
  before: Dump,
  after: Dump,
  label: string,
): Promise<void> {
  const result = await bounded(act.run(), label)
  assert.ok(act.isDone(result), `${label}: ${inspect(result)}`)
  const present = shapeOf(await tables.dump(), before)
  const difference = differenceFrom(after, present, [])
  assert.ok(difference === null, `${label}: ${inspect(difference)}`)
}
