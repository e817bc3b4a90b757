import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { assertAudited, type Entry } from './scenes/audited.ts'
import { differenceFrom, differenceFromParts, shapeOf } from './shape.ts'
import type { Dump, Tables } from './tables.ts'
import type { Disturbance, Trap } from './trap.ts'

/** An operation of the whole program on a database. */
export interface Operation<Result> {
  name: string
  run(): Promise<Result>
  /** True if the result reports success. */
  isDone(result: Result): boolean
  /** Throws if a failure is not reported honestly. */
  assertHonest(result: Result): void
  /** True if a repetition may end like this after a first run that succeeded without an answer. */
  isRepetition?(result: Result): boolean
  /**
   * True for an operation of several transactions. Each is done or not, and a repetition does the
   * rest.
   */
  isInParts?: boolean
  /** True for a row that exists only between two of the transactions. */
  isBetween?: (table: string, row: string) => boolean
  /** Tables that record the operation. Rows may be missing there if the failure is reported. */
  following?: readonly string[]
  /** Its entries in the audit log; undefined to skip the check. */
  audited?: readonly Entry[]
  /** True if a repetition adds a second row by contract, such as a second key. */
  isTwiceIfRepeated?: boolean
  /** Kinds of calls without faults. */
  leftOut?: readonly string[]
  /** The distance between two calls that are tried, for an operation that takes long. */
  stride?: number
}

/** Far above each time limit of the program. */
const STUCK_MS = 60_000
/** More calls than any operation makes. */
const CALLS_MAX = 500
/**
 * The tries of an undisturbed run, because a machine that stands still exceeds the program's time
 * limits.
 */
const TRIES_MAX = 3

/** Runs the operation with a fault at each of its calls in turn and returns the number of calls. */
export async function sweep<D extends Disturbance, Result>(
  operation: Operation<Result>,
  tables: Tables,
  trap: Trap<D>,
  disturbance: D,
): Promise<number> {
  const after = await runUndisturbed(operation, tables)
  const { stride = 1 } = operation
  let tries = 0
  for (let n = 1; n <= CALLS_MAX; n += stride) {
    const label = `${operation.name}, call ${n} ${disturbance.name}`
    trap.lift()
    await tables.restore()
    const before = await tables.dump()
    trap.set(n, disturbance, operation.leftOut)
    const result = await bounded(operation.run(), label).finally(trap.lift)
    const isReached = trap.lift()
    const isUndone = await compareTables(operation, tables, {
      result,
      isReached,
      before,
      after,
      label,
    })
    if (isReached) {
      await repeat(operation, tables, isUndone, before, after, `${label}, then undisturbed`)
      continue
    }
    if (operation.isDone(result)) return n - 1
    tries += 1
    assert.ok(tries < TRIES_MAX, `${label}: there is no such call: ${inspect(result)}`)
    n -= stride
  }
  return assert.fail(`${operation.name} makes more than ${CALLS_MAX} calls`)
}

/** Runs the operation without faults and returns the rows of all tables afterwards. */
export async function runUndisturbed<Result>(
  operation: Operation<Result>,
  tables: Tables,
): Promise<Dump> {
  for (let tries = 1; ; tries += 1) {
    await tables.restore()
    const before = await tables.dump()
    const result = await bounded(operation.run(), operation.name)
    if (operation.isDone(result)) {
      const after = shapeOf(await tables.dump(), before)
      if (operation.audited !== undefined)
        assertAudited(shapeOf(before, before), after, operation.audited, operation.name)
      return after
    }
    assert.ok(tries < TRIES_MAX, `${operation.name}: ${inspect(result)}`)
  }
}

interface Disturbed<Result> {
  result: Result
  /** False if the operation ended before the call with the fault. */
  isReached: boolean
  before: Dump
  after: Dump
  label: string
}

/**
 * Returns whether the tables are unchanged. Otherwise they must show all of the operation, or whole
 * parts of it.
 */
async function compareTables<Result>(
  operation: Operation<Result>,
  tables: Tables,
  { result, isReached, before, after, label }: Disturbed<Result>,
): Promise<boolean> {
  const { isInParts = false, isBetween = () => false } = operation
  const following = isReached ? (operation.following ?? []) : []
  const [was, present] = [shapeOf(before, before), shapeOf(await tables.dump(), before)]
  const fromBefore = differenceFrom(was, present, [])
  const isDone = operation.isDone(result)
  if (!isDone) operation.assertHonest(result)
  if (isDone || fromBefore !== null) {
    const difference =
      isInParts && !isDone
        ? differenceFromParts(was, after, present, isBetween)
        : differenceFrom(after, present, following)
    assert.ok(difference === null, `${label}: ${inspect({ result, difference, fromBefore })}`)
  }
  return fromBefore === null
}

/** Repeats the operation without a repair: it must succeed and be done exactly once. */
async function repeat<Result>(
  operation: Operation<Result>,
  tables: Tables,
  isUndone: boolean,
  before: Dump,
  after: Dump,
  label: string,
): Promise<void> {
  const { isInParts = false, isTwiceIfRepeated = false, following = [] } = operation
  const isAsBefore = async () =>
    differenceFrom(shapeOf(before, before), shapeOf(await tables.dump(), before), []) === null
  let again = await bounded(operation.run(), label)
  let isFirst = isUndone
  const isOver = () =>
    operation.isDone(again) || (!isFirst && operation.isRepetition?.(again) === true)
  for (let tries = 1; !isOver(); tries += 1) {
    assert.ok(tries < TRIES_MAX, `${label}: ${inspect(again)}`)
    // A try that reached a time limit may have succeeded.
    isFirst = await isAsBefore()
    again = await bounded(operation.run(), label)
  }
  if (!operation.isDone(again) || (!isFirst && isTwiceIfRepeated)) return
  const present = shapeOf(await tables.dump(), before)
  const mayDiffer = isFirst && !isInParts ? [] : ['audit_log', ...following]
  const difference = differenceFrom(after, present, isFirst ? mayDiffer : [], mayDiffer)
  assert.ok(difference === null, `${label}: ${inspect(difference)}`)
}

export async function bounded<T>(work: Promise<T>, label: string): Promise<T> {
  const controller = new AbortController()
  const stuck = delay(STUCK_MS, null, { signal: controller.signal }).then(
    () => assert.fail(`${label}: no result within ${STUCK_MS} ms`),
    () => null as never,
  )
  try {
    return await Promise.race([work, stuck])
  } finally {
    controller.abort()
  }
}
