import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import type { ServingStore } from '../../../src/database/store.ts'
import { SERVING } from '../../../src/postgres/patience.ts'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { addOwner } from '../../fixtures/service.ts'
import { startTcpProxy, type TcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { openStore, outcomeOf, RETURN_MS, untilGranted } from '../../postgres/claims/outcomes.ts'
import { runningMs } from '../../postgres/claims/running-time.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The network to PostgreSQL fails. Each call is answered in time and truthfully, and claims work
 * again as soon as the network does.
 */

const LANES = 4

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test("a connection cut at any byte of a claim's reply is a fault; the next works", async (t) => {
  // The lanes run side by side, because most of the time goes into waiting for a new connection.
  const places = await Promise.all(Array.from({ length: LANES }, (_, lane) => cutReplies(t, lane)))
  t.diagnostic(`${Math.max(...places)} places to cut at`)
})

/**
 * Cuts at each place of this lane, with its own database and proxy. Returns the number of all
 * places.
 */
async function cutReplies(t: TestContext, lane: number): Promise<number> {
  const { store, proxy, url } = await open(t)
  const [warm, key] = [
    await addOwner(store, 'ada@example.com'),
    await addOwner(store, 'bob@example.com'),
  ]
  const admin = new pg.Client(url)
  await admin.connect()
  t.after(() => admin.end())

  await untilGranted(store, warm.key)
  const before = proxy.replied()
  assert.equal(await outcomeOf(store, key.key), 'granted')
  const replyBytes = proxy.replied() - before
  assert.ok(replyBytes > 100 && replyBytes < 1_000, `a reply has ${replyBytes} bytes`)

  for (let bytes = lane; bytes < replyBytes; bytes += LANES) {
    let since: number
    let afterwards: string[]
    do {
      await admin.query('UPDATE api_keys SET last_used_at = NULL')
      // On an existing connection, so that the cut falls into the reply to the claim.
      await untilGranted(store, warm.key)
      proxy.cutAfter(bytes)
      since = performance.now()
      assert.equal(await outcomeOf(store, key.key), 'AuthenticationFault', `after ${bytes} bytes`)
      proxy.heal()
      // The service can't know if the claim committed. It must not grant a second one.
      afterwards = [await outcomeOf(store, key.key), await outcomeOf(store, key.key)]
      // Repeat the place if the machine was too slow to make a connection in time: a fault, too.
    } while (performance.now() - since >= SERVING.connectMs)
    assert.deepEqual(afterwards, ['limited', 'limited'], `after ${bytes} bytes`)
  }
  return replyBytes
}

test('a silent network is a fault in time, and its return is noticed', async (t) => {
  const { store, proxy } = await open(t)
  const [first, second] = [
    await addOwner(store, 'ada@example.com'),
    await addOwner(store, 'bob@example.com'),
  ]
  assert.equal(await outcomeOf(store, first.key), 'granted')
  proxy.swallow()
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, n) => outcomeOf(store, n % 2 === 0 ? first.key : second.key)),
  )
  assert.deepEqual([...new Set(outcomes)], ['AuthenticationFault'])
  for (let round = 0; round < 3; round += 1)
    assert.equal(await outcomeOf(store, second.key), 'AuthenticationFault')
  proxy.heal()
  const { tookMs } = await untilGranted(store, second.key)
  t.diagnostic(`granted ${tookMs.toFixed()} ms after the network was back`)
  assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
})

test('a service starts in time on a silent network and works once it heals', async (t) => {
  const url = await createDatabase(cluster)
  const direct = await openStore(t, url)
  const { key } = await addOwner(direct, 'ada@example.com')
  const proxy = await startTcpProxy(cluster.port)
  t.after(proxy.close)
  proxy.swallow()
  const startedAt = runningMs()
  const store = await openStore(t, through(proxy, url))
  assert.ok(runningMs() - startedAt < RETURN_MS)
  assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
  proxy.heal()
  const { tookMs } = await untilGranted(store, key)
  assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
})

test('a command works with a server whose every answer takes a third of a second', async (t) => {
  const url = await createDatabase(cluster)
  await openStore(t, url)
  const proxy = await startTcpProxy(cluster.port)
  t.after(proxy.close)
  proxy.slowDown(150)
  const store = await openPostgresStore(through(proxy, url), { create: true })
  assert.equal(await recordsOf(store).findUser('ada@example.com'), null)
  await store.close()
})

async function open(
  t: TestContext,
): Promise<{ store: ServingStore; proxy: TcpProxy; url: string }> {
  const url = await createDatabase(cluster)
  const proxy = await startTcpProxy(cluster.port)
  // After the store, which says goodbye through the proxy when it closes.
  const store = await openStore(t, through(proxy, url))
  t.after(proxy.close)
  return { store, proxy, url }
}

function through(proxy: TcpProxy, url: string): string {
  return url.replace(`:${cluster.port}/`, `:${proxy.port}/`)
}
