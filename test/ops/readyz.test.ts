import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import type { HealthStore } from '../../src/model/health/health.ts'
import { listenForOps, type Ops } from '../../src/ops/listen.ts'
import { createRequestMeter } from '../../src/ops/request-meter.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { eventually } from '../fixtures/eventually.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ask } from '../fixtures/requests.ts'

const READY = { schema: 'ok', claims: 'ok', shutdown: 'ok' }

test('/livez and /readyz answer GET and HEAD, and no other method or path', async (t) => {
  const { ops } = await start(t)
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 200)
  for (const path of ['/livez', '/readyz', '/readyz?verbose']) {
    const whole = await ask(ops.port, { path })
    assert.equal(whole.status, 200)
    assert.equal(whole.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(whole.headers['cache-control'], 'no-store')
    const head = await ask(ops.port, { path, method: 'HEAD' })
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.equal(head.headers['content-length'], whole.headers['content-length'])
    assert.equal((await ask(ops.port, { path, method: 'POST' })).status, 404)
  }
  for (const path of ['/', '/health', '/v1/servers', '/readyz/'])
    assert.equal((await ask(ops.port, { path })).status, 404)
  assert.equal((await ask(ops.port, { headers: { Host: 'a b' } })).status, 400)
})

test('a ready service says of each check that it is ok', async (t) => {
  const { ops } = await start(t)
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 200)
  assert.deepEqual(await readiness(ops), { ready: true, checks: READY })
})

test('a service that looks up no key is alive but not ready, until it does again', async (t) => {
  const { ops, path } = await start(t)
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 200)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('PRAGMA legacy_alter_table = ON; ALTER TABLE api_keys RENAME TO elsewhere')
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 503)
  assert.deepEqual(await readiness(ops), {
    ready: false,
    checks: { ...READY, claims: 'keys could not be looked up or claims could not be recorded' },
  })
  assert.equal((await ask(ops.port, { path: '/livez' })).status, 200)
  other.exec('ALTER TABLE elsewhere RENAME TO api_keys')
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 200)
})

test('a service without a database says why it is not ready', async (t) => {
  const problem = new NotConfigured('DATABASE_URL must be set')
  const { port } = await open(t, null, problem)
  const { status, body } = await ask(port, { path: '/readyz' })
  assert.equal(status, 503)
  assert.deepEqual(JSON.parse(body), {
    ready: false,
    checks: { schema: problem.message, claims: problem.message, shutdown: 'ok' },
  })
  assert.equal((await ask(port, { path: '/livez' })).status, 200)
})

test('a service that shuts down is not ready', async (t) => {
  const { ops } = await start(t)
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 200)
  ops.drain()
  assert.deepEqual(await readiness(ops), {
    ready: false,
    checks: { ...READY, shutdown: 'the service is shutting down' },
  })
})

test('a closed listener no longer watches the database', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  t.after(() => store.close())
  let probes = 0
  const probeClaims = () => {
    probes += 1
    return store.probeClaims()
  }
  const ops = await open(t, { ...store, probeClaims })
  assert.equal(probes, 1)
  await eventually(async () => (await ask(ops.port, { path: '/readyz' })).status === 200)
  t.mock.timers.tick(1_000)
  assert.equal(probes, 2)
  await ops.close()
  t.mock.timers.tick(10_000)
  assert.equal(probes, 2)
})

async function start(t: TestContext): Promise<{ ops: Ops; path: string }> {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  t.after(() => store.close())
  return { ops: await open(t, store), path }
}

async function open(t: TestContext, store: HealthStore | null, problem?: Error): Promise<Ops> {
  const log = { info() {}, error() {} }
  const ops = await listenForOps({
    host: '127.0.0.1',
    port: 0,
    store,
    problem,
    requests: createRequestMeter(['unknown']),
    build: { version: '1.2.3', engine: 'sqlite' },
    log,
  })
  t.after(async () => {
    ops.drain()
    await ops.close()
  })
  return ops
}

async function readiness(ops: Ops): Promise<unknown> {
  return JSON.parse((await ask(ops.port, { path: '/readyz' })).body)
}
