import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../fixtures/requests.ts'
import { addOwner } from '../fixtures/service.ts'
import { startDescribedService } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'

const BODY = '{"error":"Not found."}'

test('paths match byte for byte: nothing is decoded, folded or shortened', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const paths = [
    '/v1/servers/',
    '/v1/servers/123',
    '/v1',
    '/v1/',
    '/v2/servers',
    '/V1/Servers',
    '/v1/%73ervers',
    '/v1/../v1/servers',
    '/v1/./servers',
    '//v1/servers',
    '//',
    '/v1\\servers',
    '/v1/servers;x=1',
    '/v1/servers%00',
    '/v1/%zz',
    '/health/',
    '/Health',
    '/__proto__',
    '/constructor',
    '/openapi.json',
    '/metrics',
  ]
  for (const path of paths) assertAnswer(await ask(port, { path, key }), 404, BODY)
})

test('every method except GET and OPTIONS is a 404 and does not spend the second', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND'])
    for (const path of ['/v1/servers', '/health', '/'])
      assertAnswer(await ask(port, { method, path, key }), 404, BODY)
  assert.equal((await ask(port, { key })).status, 200)
})

test('HEAD is a 404 without a body', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  for (const path of ['/v1/servers', '/health'])
    assertAnswer(await ask(port, { method: 'HEAD', path, key }), 404, '')
  assert.equal((await ask(port, { key })).status, 200)
})
