import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'

const ADA = { apiKeyId: 'bot', userId: 'ada' }

test('a bounded number of keys is known; the oldest one is evicted', () => {
  const known = createKnownKeys(2)
  const hashes = [0, 1, 2].map((byte) => Uint8Array.of(255, 1, 2, 3, 4, byte))
  const keys = hashes.map((_, index) => ({ apiKeyId: `key ${index}`, userId: `user ${index}` }))
  for (const [index, hash] of hashes.entries()) known.learn(hash, keys[index]!)
  assert.deepEqual(
    hashes.map((hash) => known.of(hash)),
    [undefined, keys[1], keys[2]],
  )
})

test('a key is found by the first six bytes of the hash, all of them', () => {
  const bytes = [11, 22, 33, 44, 55, 66]
  const known = createKnownKeys()
  known.learn(Uint8Array.from([...bytes, 1]), ADA)
  assert.equal(known.of(Uint8Array.from([...bytes, 2])), ADA)
  for (let place = 0; place < 6; place += 1)
    for (const byte of [0, 255])
      assert.equal(known.of(Uint8Array.from(bytes.with(place, byte))), undefined)
  for (let place = 0; place < 5; place += 1) {
    // A difference in one byte cannot cancel a difference in the next one.
    const carried = bytes.with(place, bytes[place]! - 1).with(place + 1, bytes[place + 1]! + 1)
    assert.equal(known.of(Uint8Array.from(carried)), undefined)
  }
})
