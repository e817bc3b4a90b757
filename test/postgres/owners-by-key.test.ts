import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnersByKey } from '../../src/postgres/uses.ts'

test('the owners of so many keys are known at a time, and the oldest goes', () => {
  const owners = createOwnersByKey(2)
  const hashes = [0, 1, 2].map((byte) => Uint8Array.of(255, 1, 2, 3, 4, byte))
  for (const [index, hash] of hashes.entries()) owners.learn(hash, `owner ${index}`)
  assert.deepEqual(
    hashes.map((hash) => owners.of(hash)),
    [undefined, 'owner 1', 'owner 2'],
  )
})

test('an owner is known by the first six bytes of the hash, each of them', () => {
  const bytes = [11, 22, 33, 44, 55, 66]
  const owners = createOwnersByKey()
  owners.learn(Uint8Array.from([...bytes, 1]), 'ada')
  assert.equal(owners.of(Uint8Array.from([...bytes, 2])), 'ada')
  for (let place = 0; place < 6; place += 1)
    for (const byte of [0, 255])
      assert.equal(owners.of(Uint8Array.from(bytes.with(place, byte))), undefined)
  for (let place = 0; place < 5; place += 1) {
    // What one place loses the next one does not make up for.
    const carried = bytes.with(place, bytes[place]! - 1).with(place + 1, bytes[place + 1]! + 1)
    assert.equal(owners.of(Uint8Array.from(carried)), undefined)
  }
})
