import { setBackBetween } from './clock-steps.ts'
import type { History, Operation, Stamp } from '../record/record.ts'
import { isUnknown, lastEffectOf } from '../record/incidents.ts'
import { type OneKey, SECOND, type Violation, violation } from '../record/violation.ts'

/** I6 and I7: compares the store's own record of granted claims with what clients saw. */
export function checkStamps(key: OneKey, lastUses: History['lastUses']): Violation[] {
  if (key.stamps === null) return []
  return [
    ...checkNeighbors(key, key.stamps),
    ...checkHeld(key, key.stamps),
    ...checkOwners(key, key.stamps),
    ...checkLast(key, key.stamps, lastUses),
  ]
}

function checkNeighbors({ name, gets, steps }: OneKey, stamps: readonly Stamp[]): Violation[] {
  return stamps.slice(1).flatMap((stamp, index) => {
    const before = stamps[index]!
    const apart = stamp.at - before.at
    const makers = [before, stamp].flatMap((one) => around(gets, one).slice(0, 1))
    if (stamp.claimed_at < before.claimed_at - setBackBetween(before, stamp, steps))
      return [violation('I6', `the last use of ${name} went back`, makers, stamp.high)]
    if (apart >= SECOND || stamp.kind === 'clamp') return []
    const words = `two granted claims of ${name} recorded ${apart} µs apart, at ${before.low} and ${stamp.low} µs`
    return [violation('I7', words, makers, stamp.high)]
  })
}

/**
 * No claim of a key is granted while another session holds its row. A stamp from that time is older
 * than the wait for the lock.
 */
function checkHeld({ name, gets, held }: OneKey, stamps: readonly Stamp[]): Violation[] {
  return stamps.flatMap((stamp) => {
    if (stamp.kind === 'clamp') return []
    const lock = held.find(({ t0, t1 }) => stamp.low > t0 && stamp.high < t1)
    if (lock === undefined) return []
    const words = `a granted claim of ${name} is recorded as of ${stamp.low} µs, when another session held its row`
    return [violation('I7', words, [lock, ...around(gets, stamp).slice(0, 1)])]
  })
}

/** Returns the requests that overlap the stamp, the most likely ones first. */
function around(gets: readonly Operation[], { low, high }: Stamp): Operation[] {
  const all = gets.filter(({ t0, t1 }) => t0 <= high && t1 >= low)
  return all.toSorted((a, b) => doubt(a) - doubt(b))
}

function doubt(get: Operation): number {
  if (get.status === 200) return 0
  return isUnknown(get) ? 1 : 2
}

/**
 * Each 200 has a stamp of its own within the request. Each other stamp belongs to a request with an
 * unknown outcome.
 */
function checkOwners({ name, gets, incidents }: OneKey, stamps: readonly Stamp[]): Violation[] {
  const found: Violation[] = []
  const free = new Set(stamps.filter(({ kind }) => kind === 'claim'))
  const take = (fits: (stamp: Stamp) => boolean) => {
    for (const stamp of free) if (fits(stamp)) return free.delete(stamp)
    return false
  }
  // Requests choose in the order of their ends, and each takes the earliest stamp. All find one if
  // that is possible.
  for (const granted of byEnd(gets.filter(({ status }) => status === 200)))
    if (!take(({ low, high }) => high >= granted.t0 && low <= granted.t1))
      found.push(
        violation('I7', `a granted claim of ${name} is not in the store's record`, [granted]),
      )
  const unknown = gets
    .filter(isUnknown)
    .map(({ t0, ...get }) => ({ t0, last: lastEffectOf({ t0, ...get }, incidents) }))
    .toSorted((a, b) => a.last - b.last)
  for (const stamp of free) {
    const maker = unknown.findIndex(({ t0, last }) => t0 <= stamp.high && stamp.low <= last)
    if (maker >= 0) {
      unknown.splice(maker, 1)
      continue
    }
    const words = `a granted claim of ${name} is in the store's record at ${stamp.low} µs, and no 200 belongs to it`
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
  if (shown === undefined || shown === (last?.claimed_at ?? null)) return []
  const words = `last_used_at of ${name} is ${shown}, and its last use was at ${last?.claimed_at ?? 'no time'}`
  return [violation('I6', words, gets.slice(-1))]
}

function byEnd(operations: readonly Operation[]): Operation[] {
  return operations.toSorted((a, b) => a.t1 - b.t1)
}
