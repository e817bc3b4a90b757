import { setBackBetween } from './clock-steps.ts'
import type { History, Operation, Stamp } from './record.ts'
import {
  AFTERMATH,
  isUnknown,
  type OneKey,
  SECOND,
  type Violation,
  violation,
} from './violation.ts'

/** I6 and I7: the store's own record of uses, against what the clients saw. */
export function checkStamps(key: OneKey, lastUses: History['lastUses']): Violation[] {
  if (key.stamps === null) return []
  return [
    ...checkNeighbours(key, key.stamps),
    ...checkHeld(key, key.stamps),
    ...checkOwners(key, key.stamps),
    ...checkLast(key, key.stamps, lastUses),
  ]
}

function checkNeighbours({ name, gets, steps }: OneKey, stamps: readonly Stamp[]): Violation[] {
  return stamps.slice(1).flatMap((stamp, index) => {
    const before = stamps[index]!
    const apart = stamp.at - before.at
    const makers = [before, stamp].flatMap((one) => around(gets, one).slice(0, 1))
    if (stamp.used_at < before.used_at - setBackBetween(before, stamp, steps))
      return [violation('I6', `the last use of ${name} went back`, makers, stamp.high)]
    if (apart >= SECOND || stamp.kind === 'clamp') return []
    const words = `two uses of ${name} recorded ${apart} µs apart, at ${before.low} and ${stamp.low} µs`
    return [violation('I7', words, makers, stamp.high)]
  })
}

/** While somebody else holds the row nobody can be using the key: such a stamp is from before a wait for the lock. */
function checkHeld({ name, gets, held }: OneKey, stamps: readonly Stamp[]): Violation[] {
  return stamps.flatMap((stamp) => {
    if (stamp.kind === 'clamp') return []
    const lock = held.find(({ t0, t1 }) => stamp.low > t0 && stamp.high < t1)
    if (lock === undefined) return []
    const words = `a use of ${name} is recorded as of ${stamp.low} µs, when its row was somebody else's`
    return [violation('I7', words, [lock, ...around(gets, stamp).slice(0, 1)])]
  })
}

/** The requests during which it was made, those first that it may belong to. */
function around(gets: readonly Operation[], { low, high }: Stamp): Operation[] {
  const all = gets.filter(({ t0, t1 }) => t0 <= high && t1 >= low)
  return all.toSorted((a, b) => doubt(a) - doubt(b))
}

function doubt(get: Operation): number {
  if (get.status === 200) return 0
  return isUnknown(get) ? 1 : 2
}

/** Each 200 has a stamp of its own within the request, each other stamp an unknown request that may have made it. */
function checkOwners({ name, gets }: OneKey, stamps: readonly Stamp[]): Violation[] {
  const found: Violation[] = []
  const free = new Set(stamps.filter(({ kind }) => kind === 'use'))
  const take = (fits: (stamp: Stamp) => boolean) => {
    for (const stamp of free) if (fits(stamp)) return free.delete(stamp)
    return false
  }
  // Who ends first chooses first, and takes the earliest: then all find one if they can.
  for (const use of byEnd(gets.filter(({ status }) => status === 200)))
    if (!take(({ low, high }) => high >= use.t0 && low <= use.t1))
      found.push(violation('I7', `a use of ${name} is not in the store's record`, [use]))
  const unknown = byEnd(gets.filter(isUnknown))
  for (const stamp of free) {
    const maker = unknown.findIndex(({ t0, t1 }) => t0 <= stamp.high && stamp.low <= t1 + AFTERMATH)
    if (maker >= 0) {
      unknown.splice(maker, 1)
      continue
    }
    const words = `a use of ${name} is in the store's record at ${stamp.low} µs, and no 200 belongs to it`
    found.push(violation('I6', words, around(gets, stamp).slice(0, 2), stamp.high))
  }
  return found
}

function checkLast(
  { name, gets }: OneKey,
  stamps: readonly Stamp[],
  lastUses: History['lastUses'],
): Violation[] {
  const shown = lastUses?.[name]
  const last = stamps.at(-1)
  if (shown === undefined || shown === (last?.used_at ?? null)) return []
  const words = `last_used_at of ${name} is ${shown}, and its last use was at ${last?.used_at ?? 'no time'}`
  return [violation('I6', words, gets.slice(-1))]
}

function byEnd(operations: readonly Operation[]): Operation[] {
  return operations.toSorted((a, b) => a.t1 - b.t1)
}
