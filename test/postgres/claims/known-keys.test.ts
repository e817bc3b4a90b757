import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'

const hashOf = (number: number) => createHash('sha256').update(`${number}`).digest()

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
