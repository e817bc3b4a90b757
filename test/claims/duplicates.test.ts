import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '../../src/claims/call.ts'
import { withoutDuplicates } from '../../src/claims/duplicates.ts'
import { NO_LISTINGS } from '../fixtures/listings.ts'

test('calls with one key count as its first, also among hashes that begin alike', () => {
  const calls = [
    callWith(1, 1),
    callWith(1, 2),
    callWith(2, 1),
    callWith(1, 1),
    callWith(1, 3),
    callWith(2, 1),
    callWith(1, 2),
  ]
  const { distinct, indexOf } = withoutDuplicates(calls)
  assert.deepEqual(distinct, [calls[0], calls[1], calls[2], calls[4]])
  assert.deepEqual(indexOf, [0, 1, 2, 0, 3, 2, 1])
})

/** A call with these bytes in the hash, the last one of its beginning and the last one of all. */
function callWith(first: number, last: number): Call {
  const keyHash = new Uint8Array(32).fill(7)
  keyHash[3] = first
  keyHash[31] = last
  return { keyHash, listings: NO_LISTINGS }
}
