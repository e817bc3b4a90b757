import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { differenceFrom, shapeOf } from './shape.ts'
import type { Dump, Tables } from './tables.ts'
import type { Disturbance, Trap } from './trap.ts'

/** Something that is done to a database by way of the whole program. */
export interface Operation<Result> {
  name: string
  run(): Promise<Result>
  /** Whether the result says that it was done. */
  isDone(result: Result): boolean
  /** Throws if a result that does not say so is not an honest one. */
  assertHonest(result: Result): void
  /** Whether a second time may end like this, after the first was done without anybody having heard of it. */
  isRepetition?(result: Result): boolean
  /** It is several transactions, each of which is there or not; a repetition does the rest. */
  isInParts?: boolean
  /** Tables with what follows the act and may be missing, which is reported. */
  following?: readonly string[]
  /** Kinds of calls that are not disturbed. */
  leftOut?: readonly string[]
}

/** Far more than any time limit of the program's. */
const STUCK_MS = 60_000
/** More calls than any operation makes. */
const CALLS_MAX = 500
/** How often something undisturbed is tried: a machine that stands still runs into the program's limits of time. */
const TRIES_MAX = 3

/** Runs the operation with each of its calls disturbed in turn; the number of calls. */
export async function sweep<D extends Disturbance, Result>(
  operation: Operation<Result>,
  tables: Tables,
  trap: Trap<D>,
  disturbance: D,
): Promise<number> {
  const after = await runUndisturbed(operation, tables)
  let tries = 0
  for (let n = 1; n <= CALLS_MAX; n += 1) {
    const label = `${operation.name}, call ${n} ${disturbance.name}`
    trap.lift()
    await tables.restore()
    const before = await tables.dump()
    trap.set(n, disturbance, operation.leftOut)
    const result = await bounded(operation.run(), label).finally(trap.lift)
    const isMet = trap.lift()
    const isUndone = await judge(operation, tables, result, before, after, label)
    if (isMet) {
      await repeat(operation, tables, isUndone, before, after, `${label}, then undisturbed`)
      continue
    }
    if (operation.isDone(result)) return n - 1
    tries += 1
    assert.ok(tries < TRIES_MAX, `${label}, which there is none of: ${inspect(result)}`)
    n -= 1
  }
  return assert.fail(`${operation.name} makes more than ${CALLS_MAX} calls`)
}

/** What the tables have in them once it was done. */
async function runUndisturbed<Result>(operation: Operation<Result>, tables: Tables): Promise<Dump> {
  for (let tries = 1; ; tries += 1) {
    await tables.restore()
    const before = await tables.dump()
    const result = await bounded(operation.run(), operation.name)
    if (operation.isDone(result)) return shapeOf(await tables.dump(), before)
    assert.ok(tries < TRIES_MAX, `${operation.name}: ${inspect(result)}`)
  }
}

/** Whether the tables are as before; otherwise they have to be as after the whole. */
async function judge<Result>(
  operation: Operation<Result>,
  tables: Tables,
  result: Result,
  before: Dump,
  after: Dump,
  label: string,
): Promise<boolean> {
  const { following = [], isInParts = false } = operation
  const present = shapeOf(await tables.dump(), before)
  const fromBefore = differenceFrom(shapeOf(before, before), present, [])
  const isDone = operation.isDone(result)
  if (!isDone) operation.assertHonest(result)
  if (isDone || (fromBefore !== null && !isInParts)) {
    const difference = differenceFrom(after, present, following)
    assert.ok(difference === null, `${label}: ${inspect({ result, difference, fromBefore })}`)
  }
  return fromBefore === null
}

/** Nobody has to mend anything first: once more, and it is done. */
async function repeat<Result>(
  operation: Operation<Result>,
  tables: Tables,
  isUndone: boolean,
  before: Dump,
  after: Dump,
  label: string,
): Promise<void> {
  let again = await bounded(operation.run(), label)
  let mayBeRepetition = !isUndone
  const isOver = () =>
    operation.isDone(again) || (mayBeRepetition && operation.isRepetition?.(again) === true)
  for (let tries = 1; !isOver(); tries += 1) {
    assert.ok(tries < TRIES_MAX, `${label}: ${inspect(again)}`)
    mayBeRepetition = true
    again = await bounded(operation.run(), label)
  }
  if (!operation.isDone(again) || !(isUndone || operation.isInParts)) return
  const present = shapeOf(await tables.dump(), before)
  const difference = differenceFrom(after, present, operation.isInParts ? ['audit_log'] : [])
  assert.ok(difference === null, `${label}: ${inspect(difference)}`)
}

async function bounded<T>(work: Promise<T>, label: string): Promise<T> {
  const controller = new AbortController()
  const stuck = delay(STUCK_MS, null, { signal: controller.signal }).then(
    () => assert.fail(`${label}: nothing came of it for ${STUCK_MS} ms`),
    () => null as never,
  )
  try {
    return await Promise.race([work, stuck])
  } finally {
    controller.abort()
  }
}
