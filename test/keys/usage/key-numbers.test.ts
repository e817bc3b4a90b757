import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createKeyNumbers } from '../../../src/keys/usage/key-numbers.ts'

const KEYS_MAX = 1_000

test('each key gets the next number and keeps it', () => {
  const numbers = createKeyNumbers(KEYS_MAX)
  // Ids that another program chose may be short or much alike.
  const short = Array.from({ length: 300 }, (_, index) => `key ${index}`)
  const ids = [...short, ...Array.from({ length: 700 }, () => randomUUID())]
  const expected = new Map(ids.map((id, number) => [id, number]))
  for (const id of ids) assert.equal(numbers.assign(id), expected.get(id))
  for (const id of ids.toReversed()) {
    assert.equal(numbers.assign(id), expected.get(id))
    assert.equal(numbers.find(id), expected.get(id))
  }
  assert.deepEqual(numbers.ids, ids)
})

test('when all numbers are taken, other keys get none', () => {
  const numbers = createKeyNumbers(KEYS_MAX)
  for (let number = 0; number < KEYS_MAX; number += 1) numbers.assign(randomUUID())
  const other = randomUUID()
  assert.deepEqual([numbers.assign(other), numbers.find(other)], [undefined, undefined])
  assert.equal(numbers.assign(numbers.ids[KEYS_MAX - 1]!), KEYS_MAX - 1)
  assert.equal(numbers.ids.length, KEYS_MAX)
})
