import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'

const hashOf = (number: number) => createHash('sha256').update(`${number}`).digest()

test('a key is known by all bytes of its hash', () => {
  const known = createKnownKeys(32)
  known.learn(hashOf(1), 'bot', 'ada')
  assert.deepEqual(known.of(hashOf(1)), { apiKeyId: 'bot', userId: 'ada' })
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

test('a key that comes back under another id replaces the one before', () => {
  const known = createKnownKeys(32)
  known.learn(hashOf(1), 'bot', 'ada')
  const before = known.of(hashOf(1))
  known.learn(hashOf(1), 'bot', 'ada')
  assert.equal(known.of(hashOf(1)), before)
  known.learn(hashOf(1), 'restored bot', 'bob')
  assert.deepEqual(known.of(hashOf(1)), { apiKeyId: 'restored bot', userId: 'bob' })
  assert.deepEqual(before, { apiKeyId: 'bot', userId: 'ada' })
})
