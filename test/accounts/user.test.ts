import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  complaintAboutExternalId,
  EXTERNAL_ID_LENGTH_MAX,
  nameOf,
} from '../../src/accounts/user.ts'

test('a user is shown by the address, else by the external id, else by the id', () => {
  const [id, external_id] = ['3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10', '4711']
  assert.equal(nameOf({ id, email: 'ada@example.com', external_id }), 'ada@example.com')
  assert.equal(nameOf({ id, email: null, external_id }), external_id)
  assert.equal(nameOf({ id, email: null, external_id: null }), id)
})

test('an external id is any line of at most 255 characters', () => {
  for (const good of ['4711', 'Ada Lovelace', 'ä'.repeat(EXTERNAL_ID_LENGTH_MAX)])
    assert.equal(complaintAboutExternalId(good), null)
  for (const bad of ['', 'two\nlines', 'x'.repeat(EXTERNAL_ID_LENGTH_MAX + 1)])
    assert.match(complaintAboutExternalId(bad) ?? '', /^an external id must /)
})
