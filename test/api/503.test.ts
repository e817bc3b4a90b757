import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../src/keys/api-key.ts'
import { startUnconfigured } from '../openapi/unconfigured.ts'
import { ask } from '../fixtures/requests.ts'
import { describedPort } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'

test('an unconfigured service answers 503 to well-formed keys and everything else as usual', async (t) => {
  const service = await startUnconfigured()
  t.after(service.close)
  const port = await describedPort(t, service.port)
  assertAnswer(
    await ask(port, { key: generateKey() }),
    503,
    '{"error":"API server is not configured."}',
  )
  assert.equal((await ask(port, { key: 'svc_live_x' })).status, 503)
  assert.equal((await ask(port)).status, 401)
  assert.equal((await ask(port, { key: 'svc_test_x' })).status, 401)
  assert.equal((await ask(port, { path: '/health' })).status, 200)
  assert.equal((await ask(port, { method: 'OPTIONS' })).status, 204)
  assert.equal((await ask(port, { path: '/v1/unknown' })).status, 404)
  assert.equal((await ask(service.dashboardPort, { path: '/sign-in' })).status, 503)
})
