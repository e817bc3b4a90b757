import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownClaim } from '../../../src/model/claim.ts'
import { type Counts, createCounts } from '../../../src/keys/usage/counts.ts'
import { limitedClaim, idOf } from '../pages/counted.ts'

/*
 * The counts in memory between two writes.
 */

test('a write has the keys with requests since the last one, in the slot of their first request', () => {
  const counts = createCounts()
  const [first, second] = [limitedClaim(1), limitedClaim(2)]
  const add = (claim: KnownClaim, slot: number) => counts.add(claim, () => slot)
  const taken = () =>
    [...counts.take()].map(({ api_key_id, slot, limited }) => [api_key_id, slot, limited])
  for (const claim of [first, second, first]) add(claim, 7)
  assert.deepEqual(taken(), [
    [idOf(1), 7, 2],
    [idOf(2), 7, 1],
  ])
  assert.deepEqual([counts.get(idOf(1)), counts.get(idOf(2))], [null, null])
  add(second, 8)
  add(second, 9)
  assert.equal(counts.get(idOf(1)), null)
  assert.deepEqual(taken(), [[idOf(2), 8, 2]])
  assert.deepEqual(taken(), [])
})

test('a count that could not be written keeps its slot, unless its key has newer requests', () => {
  const unwritten = { api_key_id: idOf(1), slot: 7, answered: 0, limited: 2, revoked: 0 }
  const counts = createCounts()
  counts.addAll([unwritten])
  assert.deepEqual([...counts.take()], [unwritten])
  counts.add(limitedClaim(1), () => 8)
  counts.addAll([unwritten])
  assert.deepEqual([...counts.take()], [{ ...unwritten, slot: 8, limited: 3 }])
})

test('after a write of many keys, as many others are counted', () => {
  const counts = createCounts()
  for (const first of [0, 200_000]) {
    addKeys(counts, first, 200_000)
    counts.add(limitedClaim(first + 200_000), () => 7)
    assert.equal(counts.get(idOf(first + 200_000)), null)
    counts.take()
    assert.equal(counts.get(idOf(first + 199_999)), null)
  }
})

/** Counts a request with each of these keys, and checks that the last one is counted. */
function addKeys(counts: Counts, first: number, size: number): void {
  for (let index = first; index < first + size; index += 1)
    counts.add({ outcome: 'limited', apiKeyId: idOf(index) }, () => 7)
  assert.equal(counts.get(idOf(first + size - 1))?.limited, 1)
}
