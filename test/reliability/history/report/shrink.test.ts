import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from '../check/check.ts'
import { change, get, history, revoke, stamp } from '../record/hand-written.ts'
import type { History, Operation } from '../record/record.ts'
import { shrink } from './shrink.ts'

/*
 * A record of thousands of operations shrinks to the contradiction, and to nothing that could be
 * left out.
 */

/**
 * Clients that the service treats correctly, from the first write of the list to one second before
 * everything else.
 */
function crowd(): Operation[] {
  return Array.from({ length: 890 }, (_, n) =>
    get(-18_900 + n * 20, -18_895 + n * 20, n % 51 === 0 ? 200 : 502, {
      key: n % 2 === 0 ? 'k' : `other ${n % 5}`,
      body: n % 51 === 0 ? 'v1' : 'Failed to load servers.',
    }),
  )
}

test('two granted claims within one second shrink to these two', () => {
  const two = [get(9_000, 9_005, 200), get(9_500, 9_505, 200)]
  const { operations } = shrunk(history([...crowd(), ...two, get(9_600, 9_605, 429)]))
  assert.deepEqual(operations, two)
})

test('a refusal shrinks to itself and the claim before it', () => {
  const failed = get(9_000, 9_005, 502, { body: 'Failed to load servers.' })
  const later = [get(12_000, 12_005, 502), get(12_010, 12_015, 200), get(12_020, 12_025, 429)]
  const wrong = get(9_010, 9_015, 429)
  const { operations } = shrunk(history([...crowd(), failed, wrong, ...later]))
  assert.deepEqual(operations, [failed, wrong])
})

test('a record keeps what shows the violation: states of a list, a revocation, stamps', () => {
  const written = change(10, 20, 'v2')
  const stale = get(20.001, 25, 200)
  const ofList = shrunk(history([...crowd(), written, change(30, 40, 'v3'), stale]))
  assert.deepEqual(ofList.operations, [change(-20_000, -19_000, 'v1'), written, stale])

  const gone = revoke(0, 5)
  const known = get(6, 9, 200)
  assert.deepEqual(shrunk(history([...crowd(), gone, known])).operations, [gone, known])

  const times = [-18_000, -16_000, -14_000, -12_000]
  const before = times.map((time) => get(time, time + 5, 200))
  const granted = [get(0, 600, 200), get(10, 1_600, 200)]
  const stamps = [stamp(500), stamp(1_499.999)]
  const others = times.map((time) => stamp(time + 3))
  const ofStamps = shrunk(history([...before, ...granted], { stamps: [...others, ...stamps] }))
  assert.deepEqual(ofStamps.stamps, stamps)
  assert.deepEqual(ofStamps.operations, granted)
})

test('shrinking ends when its time is over, with the shortest record so far', () => {
  const two = [get(9_000, 9_005, 200), get(9_500, 9_505, 200)]
  const record = history([...crowd(), ...two])
  const { operations } = shrink(record, check(record)!, 0)
  assert.ok(operations.length >= two.length && operations.length < record.operations.length)
  for (const operation of two) assert.ok(operations.includes(operation))
})

function shrunk(record: History): History {
  return shrink(record, check(record)!)
}
