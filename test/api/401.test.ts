import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBearer } from '../../src/api/list-servers.ts'
import { generateKey } from '../../src/keys/api-key.ts'

/* What is no key. test/wire/corpus/credentials.ts sends every kind to the service. */

test('the bearer parser trims nothing', () => {
  const key = generateKey()
  assert.equal(readBearer(`Bearer ${key}`), key)
  assert.equal(readBearer('Bearer svc_live_'), 'svc_live_')
  assert.equal(readBearer('Bearer SVC_LIVE_0'), null)
  for (const padding of [' ', '\t', '\u00a0', '\ufeff', '\n', '\0'])
    for (const value of [
      `Bearer ${key}${padding}`,
      `${padding}Bearer ${key}`,
      `Bearer ${padding}${key}`,
    ])
      assert.equal(readBearer(value), null, JSON.stringify(value))
  assert.equal(readBearer(null), null)
})
