import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../src/listing/api-key.ts'
import { NotConfigured } from '../../src/listing/faults.ts'
import { startService } from '../../src/service.ts'
import { ask } from '../fixtures/requests.ts'
import { describedPort } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'

test('an unconfigured service answers 503 to well-formed keys and everything else as usual', async (t) => {
  const service = await startService({
    store: null,
    problem: new NotConfigured('DATABASE_URL must be set'),
    host: '127.0.0.1',
    port: 0,
    log: { fault: () => '5f0c1e9a7b3d-1', http() {} },
    dashboard: {
      port: 0,
      baseUrl: 'http://127.0.0.1:8080',
      dashboardUrl: 'http://127.0.0.1:8081',
      signUp: 'closed',
      trustedProxies: [],
    },
  })
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
