import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'

const hashOf = (number: number) => createHash('sha256').update(`${number}`).digest()

test('a key is known by all bytes of its hash', () => {
  const known = createKnownKeys(32)
  const key = known.learn(hashOf(1), 'bot', 'ada')
  assert.equal(known.of(hashOf(1)), key)
  assert.deepEqual([key.apiKeyId, key.userId], ['bot', 'ada'])
  for (let place = 0; place < 32; place += 1) {
    const other = hashOf(1)
    other[place]! ^= 1
    assert.equal(known.of(other), undefined)
  }
})

test('a bounded number of keys is known, and one that is learned again takes no second place', () => {
  const known = createKnownKeys(32)
  const learn = (number: number) => known.learn(hashOf(number), `key ${number}`, 'ada')
  for (let number = 1; number <= 32; number += 1) learn(number)
  for (let number = 1; number <= 32; number += 1) learn(number)
  const numbers = (most: number) =>
    Array.from({ length: most }, (_, index) => index + 1).filter((number) =>
      known.of(hashOf(number)),
    )
  assert.equal(numbers(32).length, 32)
  for (let number = 33; number <= 100; number += 1) learn(number)
  assert.equal(numbers(100).length, 32)
})

test('a key that comes back under another id replaces the one before, and is counted anew', () => {
  const known = createKnownKeys(32)
  const before = known.learn(hashOf(1), 'bot', 'ada')
  before.owner = {}
  assert.equal(known.learn(hashOf(1), 'bot', 'ada'), before)
  const after = known.learn(hashOf(1), 'restored bot', 'bob')
  assert.equal(known.of(hashOf(1)), after)
  assert.deepEqual([after.apiKeyId, after.userId, after.owner], ['restored bot', 'bob', null])
  assert.deepEqual([before.apiKeyId, before.userId], ['bot', 'ada'])
})
