import assert from 'node:assert/strict'
import { test } from 'node:test'
import { floorsMissed } from './floors.ts'
import { get, history, incident, stamp } from './record/hand-written.ts'
import type { Incident, Operation, Stamp } from './record/record.ts'

/*
 * A run proves little unless it contains enough of everything. Each floor can be missed.
 */

const SECONDS = 60

/** One key for a minute, with a 200 and six 429s per second. */
function minute(): { operations: Operation[]; stamps: Stamp[] } {
  const seconds = Array.from({ length: SECONDS }, (_, second) => second * 1_010)
  return {
    operations: seconds.flatMap((at) => [
      get(at, at + 5, 200),
      ...[100, 200, 300, 400, 500, 600].map((after) => get(at + after, at + after + 5, 429)),
    ]),
    stamps: seconds.map((at) => stamp(at + 2)),
  }
}

function missed(
  { operations, stamps }: { operations: Operation[]; stamps: Stamp[] | null },
  incidents: Incident[] = [],
  times = 1,
): string[] {
  return floorsMissed({
    history: history(operations, { stamps, incidents }),
    faults: new Map([['process killed', times]]),
  })
}

test('a run that contains enough of everything misses no floor', () => {
  assert.deepEqual(missed(minute()), [])
})

test('a run of few 200s or few 429s misses a floor', () => {
  const { operations, stamps } = minute()
  const [granted, refusals] = [200, 429].map((wanted) =>
    operations.filter(({ status }) => status === wanted),
  ) as [Operation[], Operation[]]
  assert.match(
    missed({ operations: [...granted.slice(0, 39), ...refusals], stamps }).join(),
    /only 39 200s/,
  )
  assert.match(
    missed({ operations: [...granted, ...refusals.slice(0, 99)], stamps }).join(),
    /only 99 429s/,
  )
})

test('a fault that never happened and a missing record each miss a floor', () => {
  assert.deepEqual(missed(minute(), [], 0), ['never happened: process killed'])
  assert.match(missed({ ...minute(), stamps: null }).join(), /the store's own record is missing/)
})

test('a run with a fault nearly all the time misses a floor, because it believes any 502', () => {
  const always = [incident(0, 55_000)]
  assert.match(
    missed(minute(), always).join(),
    /a 502 would be an alarm at only \d+ of 420 requests/,
  )
  assert.match(missed(minute(), always).join(), /only \d 200s met no fault/)
  // A clock that is set explains no failure.
  assert.deepEqual(missed(minute(), [incident(0, 55_000, { failures: [] })]), [])
})

test('a run in which nearly every request failed misses a floor, unless one lasting fault is its subject', () => {
  const { operations, stamps } = minute()
  const failed = Array.from({ length: 12_000 }, (_, index) => get(5 * index, 5 * index + 5, 502))
  const all = { operations: [...operations, ...failed], stamps }
  // A third of each second has no fault.
  const mostly = Array.from({ length: SECONDS }, (_, n) =>
    incident(1_010 * n + 300, 1_010 * n + 990),
  )
  assert.deepEqual(missed(all, mostly), ['12000 of 12420 requests failed, more than 95 %'])
  assert.deepEqual(
    missed(
      all,
      mostly.map((one) => ({ ...one, stays: true })),
    ).length,
    0,
  )
})

test('a record with another claim near most 200s misses a floor, because it believes any 429', () => {
  const { operations, stamps } = minute()
  const doubled = stamps.flatMap((one) => [
    one,
    { ...one, low: one.low - 5e5, high: one.high - 5e5 },
  ])
  assert.match(
    missed({ operations, stamps: doubled }).join(),
    /a 429 would have been believed at 60 of 60 200s/,
  )
})
