import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../fixtures/requests.ts'
import { addOwner, issueKey } from '../fixtures/service.ts'
import { startDescribedService } from '../openapi/described-service.ts'
import { assertAnswer, assertCommonHeaders } from './answers.ts'
import { serverExports } from '../../src/servers/records/server-exports.ts'
import { serverImports } from '../../src/servers/records/server-imports.ts'
import { operatorAt } from '../../src/model/audit.ts'

const NOW = 1_800_000_000_000_000

test('a listing has exactly the eight fields of a server, in their order, null where unknown', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key, user } = await addOwner(store, 'ada@example.com', [
    { name: 'Überleben "2" 🏰', address: 'play.example.com:25565', updated_at: NOW },
    {
      name: 'Realm',
      address: '[2001:db8::1]:19132',
      slug: 'the-realm',
      edition: 'bedrock',
      status: 'draft',
      version: '1.21.4',
      listing_kind: 'realm',
      updated_at: NOW + 1,
    },
  ])
  const ids = (await serverExports(store.database).listServers(user.id)).map(({ id }) => id)
  const answer = await ask(port, { key })
  assertAnswer(
    answer,
    200,
    `{"servers":[{"id":"${ids[0]}","name":"Realm","slug":"the-realm","address":"[2001:db8::1]:19132",` +
      `"edition":"bedrock","status":"draft","version":"1.21.4","listing_kind":"realm"},` +
      `{"id":"${ids[1]}","name":"Überleben \\"2\\" 🏰","slug":null,"address":"play.example.com:25565",` +
      `"edition":"java","status":"published","version":null,"listing_kind":null}]}`,
  )
  assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.body)))
})

test('an owner without servers gets an empty array', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  assertAnswer(await ask(port, { key }), 200, '{"servers":[]}')
})

test('an answer from the cache has the same bytes as the first', async (t) => {
  const { port, store, clock } = await startDescribedService(t)
  const { key, user } = await addOwner(store, 'ada@example.com', [
    { name: 'é', address: 'a.example.com' },
  ])
  const first = await ask(port, { key })
  clock.elapse(1_000)
  const second = await ask(port, { key })
  assert.deepEqual([second.status, second.body], [200, first.body])
  const { key: sibling } = await issueKey(store, user, 'sibling')
  assert.equal((await ask(port, { key: sibling })).body, first.body)
})

test('the next answer shows a change of the listing', async (t) => {
  const { port, store, clock } = await startDescribedService(t)
  const { key, user } = await addOwner(store, 'ada@example.com')
  for (const name of ['one', 'two', 'three']) {
    await serverImports(store.database).saveServers(
      user.id,
      null,
      [{ name, address: 'a.example.com', slug: 'one' }],
      operatorAt(NOW),
    )
    const answer = await ask(port, { key })
    assert.deepEqual(
      JSON.parse(answer.body).servers.map((server: { name: string }) => server.name),
      [name],
    )
    clock.elapse(1_000)
  }
})

test('the scheme may have any case, and the rest of the request is ignored', async (t) => {
  const { port, store, clock } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const headers = {
    accept: 'text/html',
    'accept-encoding': 'gzip',
    'if-none-match': '*',
    range: 'bytes=0-1',
    'x-http-method-override': 'DELETE',
  }
  for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
    const path = '/v1/servers?status=draft&limit=1&cursor=x&api_key=y'
    const answer = await ask(port, { path, authorization: `${scheme} ${key}`, headers })
    assertAnswer(answer, 200, '{"servers":[]}')
    clock.elapse(1_000)
  }
})

test('/health needs no key and answers ok', async (t) => {
  const { port } = await startDescribedService(t)
  for (const path of ['/', '/health', '/health?x=1'])
    assertAnswer(await ask(port, { path }), 200, '{"ok":true}')
})

test("/health has no limit and does not spend a key's second", async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  for (let count = 0; count < 5; count += 1)
    assert.equal((await ask(port, { path: '/health', key })).status, 200)
  assert.equal((await ask(port, { key })).status, 200)
})

test('a preflight is a 204 on any path, without body or length, with or without a key', async (t) => {
  const { port } = await startDescribedService(t)
  for (const path of ['/v1/servers', '/', '/health', '/nope', '*']) {
    const answer = await ask(port, {
      method: 'OPTIONS',
      path,
      headers: { origin: 'https://example.org', 'access-control-request-method': 'GET' },
    })
    assert.deepEqual([answer.status, answer.body], [204, ''])
    assert.equal(answer.headers['content-length'], undefined)
    assert.equal(answer.headers['transfer-encoding'], undefined)
    assertCommonHeaders(answer)
  }
})
