import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBearer } from '../../src/api/list-servers.ts'
import { generateKey } from '../../src/keys/api-key.ts'
import { type Ask, ask } from '../fixtures/requests.ts'
import { addOwner } from '../fixtures/service.ts'
import { startDescribedService } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'
import { apiKeys } from '../../src/keys/records/api-keys.ts'
import { operatorAt } from '../../src/model/audit.ts'

const BODY = '{"error":"Invalid or missing API key."}'

test('every invalid key gets the same 401, and none spends the second', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const { user, key: revoked, keyId } = await addOwner(store, 'bob@example.com')
  await apiKeys(store.database).revokeApiKey(user.id, keyId, operatorAt(1))
  const asks: Record<string, Ask> = {
    'no header': {},
    'empty header': { authorization: '' },
    'another scheme': { authorization: `Basic ${key}` },
    'the key alone': { authorization: key },
    'the scheme alone': { authorization: 'Bearer' },
    'two spaces': { authorization: `Bearer  ${key}` },
    'a tab': { authorization: `Bearer\t${key}` },
    'something behind the key': { authorization: `Bearer ${key} x` },
    'the key twice': { authorization: `Bearer ${key}, Bearer ${key}` },
    'another prefix': { key: key.replace('svc_live_', 'svc_test_') },
    'the prefix in upper case': { key: key.replace('svc_live_', 'SVC_LIVE_') },
    'the body in upper case': { key: `svc_live_${key.slice(9).toUpperCase()}` },
    'the fixed prefix alone': { key: 'svc_live_' },
    'a truncated key': { key: key.slice(0, -1) },
    'a key with one more': { key: `${key}0` },
    'a key of seven thousand characters': { key: `svc_live_${'0'.repeat(7_000)}` },
    'an injection': { key: `svc_live_'OR/**/1=1--` },
    'a key never issued': { key: generateKey() },
    'a revoked key': { key: revoked },
    'the key in the query': { path: `/v1/servers?api_key=${key}&key=${key}` },
    'the key in other headers': {
      headers: { 'x-api-key': key, cookie: `key=${key}`, 'proxy-authorization': `Bearer ${key}` },
    },
    'two headers': { headers: { Authorization: [`Bearer ${key}`, `Bearer ${key}`] } },
  }
  const heads = new Set<string>()
  for (const [name, one] of Object.entries(asks)) {
    const answer = await ask(port, one)
    assert.equal(answer.status, 401, name)
    assertAnswer(answer, 401, BODY)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
    const { date: _, ...head } = answer.headers
    heads.add(JSON.stringify(head))
  }
  assert.equal(heads.size, 1)
  assert.equal((await ask(port, { key })).status, 200)
})

test('a key revoked within a second of its claim gets 401, not 429', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { user, key, keyId } = await addOwner(store, 'ada@example.com')
  assert.equal((await ask(port, { key })).status, 200)
  assert.equal((await ask(port, { key })).status, 429)
  await apiKeys(store.database).revokeApiKey(user.id, keyId, operatorAt(1))
  assertAnswer(await ask(port, { key }), 401, BODY)
})

test('the bearer parser trims nothing', () => {
  const key = generateKey()
  assert.equal(readBearer(`Bearer ${key}`), key)
  assert.equal(readBearer('Bearer svc_live_'), 'svc_live_')
  for (const padding of [' ', '\t', '\u00a0', '\ufeff', '\n', '\0'])
    for (const value of [
      `Bearer ${key}${padding}`,
      `${padding}Bearer ${key}`,
      `Bearer ${padding}${key}`,
    ])
      assert.equal(readBearer(value), null, JSON.stringify(value))
  assert.equal(readBearer(null), null)
})
