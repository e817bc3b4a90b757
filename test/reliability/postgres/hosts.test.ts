import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { addOwner } from '../../fixtures/service.ts'
import { startTcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { openStore, outcomeOf, RETURN_MS, untilGranted } from '../../postgres/claims/outcomes.ts'

/*
 * A DATABASE_URL with several hosts. They are tried in turn and only a primary is used, also after
 * a standby is promoted.
 */

let primary: Cluster
let standby: Cluster
before(async () => {
  primary = await startCluster()
  standby = await primary.startStandby()
})
after(async () => {
  await standby.remove()
  await primary.remove()
})

test('the primary is found behind hosts that refuse, stay silent or only follow', async (t) => {
  const url = await createDatabase(primary)
  await caughtUp()
  const silent = await startTcpProxy(primary.port)
  t.after(silent.close)
  silent.swallow()
  for (const port of [await freePort(), silent.port, standby.port]) {
    const store = await openStore(t, withHosts(url, port, primary.port))
    const { key } = await addOwner(store, `ada${port}@example.com`)
    assert.equal(await outcomeOf(store, key), 'granted')
  }
})

test('a standby alone is never used', async (t) => {
  const url = await createDatabase(primary)
  const { key } = await ownerIn(t, url)
  await caughtUp()
  const store = await openStore(t, withHosts(url, standby.port))
  assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
  await assert.rejects(
    openPostgresStore(withHosts(url, standby.port), { create: true }),
    /only a primary is used/,
  )
})

test('a promotion grants no key twice in a second, and claims work again in time', async (t) => {
  const url = await createDatabase(primary)
  const { key } = await ownerIn(t, url)
  await caughtUp()
  const store = await openStore(t, withHosts(url, primary.port, standby.port))
  const usedAt = performance.now()
  assert.equal(await outcomeOf(store, key), 'granted')
  await primary.stop('immediate')
  assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
  await standby.control('promote')
  const { tookMs, atMs } = await untilGranted(store, key)
  t.diagnostic(`granted again ${tookMs.toFixed()} ms after the promotion`)
  assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
  assert.ok(atMs - usedAt >= 1_000, `granted again after ${atMs - usedAt} ms`)
})

async function ownerIn(t: TestContext, url: string): Promise<{ key: string }> {
  const store = await openPostgresStore(url, { create: true })
  t.after(() => store.close())
  return addOwner(store, 'ada@example.com')
}

function withHosts(url: string, ...ports: number[]): string {
  return url.replace(/@[^/]*/, `@${ports.map((port) => `127.0.0.1:${port}`).join()}`)
}

/** Waits until the standby has replayed the whole log. */
async function caughtUp(): Promise<void> {
  const lsn = await asAdmin(primary.url(), async (client) => {
    const { rows } = await client.query('SELECT pg_current_wal_lsn()::text AS lsn')
    return rows[0].lsn as string
  })
  await asAdmin(standby.url(), async (client) => {
    for (;;) {
      const { rows } = await client.query('SELECT pg_last_wal_replay_lsn() >= $1 AS done', [lsn])
      if (rows[0].done) return
    }
  })
}
