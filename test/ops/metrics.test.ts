import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { generateKey } from '../../src/keys/api-key.ts'
import type { ServingStore } from '../../src/database/store.ts'
import { startService } from '../../src/service.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { eventually } from '../fixtures/eventually.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner } from '../fixtures/service.ts'
import { ROOT } from '../fixtures/tree.ts'
import { type Samples, samplesIn } from './samples.ts'
import { writeLastBackup } from '../../src/database/last-backup.ts'

test('requests are counted by route and status, with their duration', async (t) => {
  const { store, port, metrics } = await start(t)
  const { key } = await addOwner(store, 'ada@example.com')
  for (const status of [200, 429]) assert.equal((await ask(port, { key })).status, status)
  await ask(port)
  await ask(port, { path: '/health' })
  await ask(port, { path: '/', method: 'OPTIONS' })
  await ask(port, { path: '/v1/servers/42' })
  await ask(port, { headers: { Host: 'a b' } })
  const samples = await metrics()
  const counts = [...samples].filter(([name]) => name.startsWith('server_listing_requests_total'))
  assert.deepEqual(
    counts.map(([name, value]) => [name.replace('server_listing_requests_total', ''), value]),
    [
      ['{route="/v1/servers",status="200"}', 1],
      ['{route="/v1/servers",status="401"}', 1],
      ['{route="/v1/servers",status="429"}', 1],
      ['{route="/health",status="200"}', 1],
      ['{route="OPTIONS",status="204"}', 1],
      ['{route="unknown",status="400"}', 1],
      ['{route="unknown",status="404"}', 1],
    ],
  )
  const duration = 'server_listing_request_duration_seconds'
  assert.equal(samples.get(`${duration}_count{route="/v1/servers"}`), 3)
  assert.equal(samples.get(`${duration}_bucket{route="/v1/servers",le="+Inf"}`), 3)
  const sum = samples.get(`${duration}_sum{route="/v1/servers"}`)!
  assert.ok(sum > 0 && sum < 20, String(sum))
})

test('other keys and paths add no series, and no label has a key', async (t) => {
  const { store, port, metrics } = await start(t)
  const { key, user } = await addOwner(store, 'ada@example.com')
  const unknown = generateKey()
  await ask(port, { key })
  await ask(port, { key: unknown })
  await ask(port, { path: '/x' })
  // The size of the database is measured beside the requests.
  await eventually(async () => (await metrics()).has('server_listing_database_bytes'))
  const before = await metrics()
  for (let count = 0; count < 50; count += 1)
    await Promise.all([
      ask(port, { key: generateKey() }),
      ask(port, { path: `/${count}`, method: `M${count}` }),
    ])
  const after = await metrics()
  assert.deepEqual([...after.keys()], [...before.keys()])
  const names = [...after.keys()].join('\n')
  for (const secret of [key.slice(0, 16), unknown.slice(0, 16), user.id, 'ada@', '"/x"'])
    assert.ok(!names.includes(secret), secret)
})

test('the metrics tell the size of the database and whether it is ready', async (t) => {
  const { metrics } = await start(t)
  await eventually(async () => {
    const samples = await metrics()
    return samples.get('server_listing_ready') === 1 && samples.has('server_listing_database_bytes')
  })
  const samples = await metrics()
  assert.ok(samples.get('server_listing_database_bytes')! >= 4_096)
  assert.ok(samples.get('server_listing_database_log_bytes')! >= 0)
  assert.ok(samples.get('server_listing_disk_free_bytes')! > 0)
  assert.equal(samples.get('server_listing_check_ok{check="claims"}'), 1)
  assert.ok(samples.get('server_listing_batch_size_count')! >= 1)
  assert.equal(samples.get('server_listing_shed_requests_total'), 0)
  const { version } = process
  assert.equal(
    samples.get(`server_listing_build_info{version="1.2.3",engine="sqlite",node="${version}"}`),
    1,
  )
  const age = Date.now() / 1_000 - samples.get('process_start_time_seconds')!
  assert.ok(age >= 0 && age < 600, String(age))
})

test('the metrics tell when the last backup was made, and 0 before the first one', async (t) => {
  const last = 'server_listing_last_backup_timestamp_seconds'
  const path = join(temporaryFolder(t), 'listing.db')
  const before = await start(t, path)
  await eventually(async () => (await before.metrics()).has(last))
  assert.equal((await before.metrics()).get(last), 0)
  await before.store.database.transact((transaction) =>
    writeLastBackup(transaction, 1_700_000_000_500_000),
  )
  await before.close()
  const { metrics } = await start(t, path)
  await eventually(async () => (await metrics()).has(last))
  assert.equal((await metrics()).get(last), 1_700_000_000.5)
})

test('the documentation lists every metric of the service, and no other', async (t) => {
  const { port, metrics } = await start(t)
  await ask(port)
  await eventually(async () => (await metrics()).has('server_listing_database_bytes'))
  const shown = new Set(
    [...(await metrics()).keys()].map((name) =>
      name.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''),
    ),
  )
  const text = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8')
  const documented = [...text.matchAll(/^\| `((?:server_listing|process)_\w+)/gm)].map(([, n]) =>
    String(n),
  )
  // SQLite has no pool.
  const absent = ['server_listing_pool_connections', 'server_listing_pool_waiting']
  assert.deepEqual(documented.toSorted(), [...shown, ...absent].toSorted())
})

interface Started {
  store: ServingStore
  port: number
  metrics(): Promise<Samples>
  close(): Promise<void>
}

async function start(
  t: TestContext,
  path = join(temporaryFolder(t), 'listing.db'),
): Promise<Started> {
  const store = await openServingSqliteStore(path)
  const service = await startService({
    store,
    host: '127.0.0.1',
    port: 0,
    log: { fault() {}, http() {} },
    dashboard: {
      port: 0,
      baseUrl: null,
      dashboardUrl: null,
      signUp: 'closed',
      trustedProxies: [],
    },
    ops: {
      host: '127.0.0.1',
      port: 0,
      log: { info() {}, error() {} },
      build: { version: '1.2.3', engine: 'sqlite' },
    },
  })
  t.after(service.close)
  return {
    store,
    port: service.port,
    close: service.close,
    async metrics() {
      const { status, headers, body } = await ask(service.ops!.port, { path: '/metrics' })
      assert.equal(status, 200)
      assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
      return samplesIn(body)
    },
  }
}
