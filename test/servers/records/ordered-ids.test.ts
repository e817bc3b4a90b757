import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOrderedIds } from '../../../src/database/ordered-ids.ts'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('the ids of one batch are UUIDs of version 7, each greater than the one before', () => {
  const makeId = createOrderedIds(1_800_000_000_000)
  const ids = Array.from({ length: 10_000 }, makeId)
  for (const id of ids) assert.match(id, VERSION_7)
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
})

test('two batches of the same millisecond share no id', () => {
  const [one, other] = [createOrderedIds(1), createOrderedIds(1)]
  assert.notEqual(one(), other())
})
