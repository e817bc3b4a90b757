import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSerialSet } from '../../../src/sqlite/claims/serial-set.ts'

const serials = fc.integer({ min: 1, max: 200_000 })

test('the members come out sorted and once each, in steps of any size', () => {
  const steps = fc.integer({ min: 1, max: 100 })
  fc.assert(
    fc.property(fc.array(serials, { maxLength: 500 }), steps, (added, step) => {
      const set = createSerialSet()
      for (const serial of added) set.add(serial)
      const found: number[] = []
      for (let some = set.after(0, step); some.length > 0; some = set.after(found.at(-1)!, step)) {
        assert.ok(some.length <= step)
        found.push(...some)
      }
      assert.deepEqual(
        found,
        [...new Set(added)].toSorted((a, b) => a - b),
      )
      assert.equal(set.largest(), Math.max(0, ...added))
      assert.equal(set.size(), found.length)
    }),
  )
})

test('only members after the given number come out', () => {
  fc.assert(
    fc.property(fc.array(serials, { minLength: 1, maxLength: 100 }), serials, (added, from) => {
      const set = createSerialSet()
      for (const serial of added) set.add(serial)
      const later = [...new Set(added)].filter((serial) => serial > from)
      assert.deepEqual(
        set.after(from, 200),
        later.toSorted((a, b) => a - b),
      )
    }),
  )
})

test('a cleared set is empty, and takes new members', () => {
  const set = createSerialSet()
  for (const serial of [1, 31, 32, 33, 1_000_000]) set.add(serial)
  set.clear()
  assert.deepEqual([set.after(0, 10), set.largest()], [[], 0])
  set.add(32)
  assert.deepEqual([set.after(0, 10), set.largest()], [[32], 32])
})
