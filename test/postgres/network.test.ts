import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import type { ServingStore } from '../../src/listing/store.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { createDatabase } from '../fixtures/postgres-database.ts'
import { addOwner } from '../fixtures/service.ts'
import { startTcpProxy, type TcpProxy } from '../fixtures/tcp-proxy.ts'
import { openStore, outcomeOf, RETURN_MS, untilUsed } from './outcomes.ts'

/*
 * What the service does when the way to PostgreSQL fails: every call is answered in time, what it is told is true, and
 * the next one works as soon as the way does.
 */

const LANES = 4

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('a connection cut after any byte of the reply to a use is a fault, and the next use works', async (t) => {
  // Most of the time is spent waiting for the next connection, so some wait side by side.
  const places = await Promise.all(Array.from({ length: LANES }, (_, lane) => cutReplies(t, lane)))
  t.diagnostic(`${Math.max(...places)} places to cut at`)
})

/** Cuts at every place that falls to this lane, with a database and a proxy of its own: how many there are in all. */
async function cutReplies(t: TestContext, lane: number): Promise<number> {
  const { store, proxy, url } = await open(t)
  const [warm, key] = [
    await addOwner(store, 'ada@example.com'),
    await addOwner(store, 'bob@example.com'),
  ]
  const admin = new pg.Client(url)
  await admin.connect()
  t.after(() => admin.end())

  assert.equal(await outcomeOf(store, warm.key), 'used')
  const before = proxy.replied()
  assert.equal(await outcomeOf(store, key.key), 'used')
  const replyBytes = proxy.replied() - before
  assert.ok(replyBytes > 100 && replyBytes < 1_000, `a reply has ${replyBytes} bytes`)

  for (let bytes = lane; bytes < replyBytes; bytes += LANES) {
    let since: number
    let afterwards: string[]
    do {
      await admin.query('UPDATE api_keys SET last_used_at = NULL')
      // On a connection that is there already, so that what is cut is the reply to the use.
      assert.equal(await outcomeOf(store, warm.key), 'used')
      proxy.cutAfter(bytes)
      since = performance.now()
      assert.equal(await outcomeOf(store, key.key), 'AuthenticationFault', `after ${bytes} bytes`)
      proxy.heal()
      // Whether the use was committed nobody could say; it was not answered, and it is never two.
      afterwards = [await outcomeOf(store, key.key), await outcomeOf(store, key.key)]
      // Once more where the machine stood still until the second was over.
    } while (performance.now() - since >= 1_000)
    assert.deepEqual(afterwards, ['too soon', 'too soon'], `after ${bytes} bytes`)
  }
  return replyBytes
}

test('a network that swallows everything is a fault in time, and is noticed to be back', async (t) => {
  const { store, proxy } = await open(t)
  const [first, second] = [
    await addOwner(store, 'ada@example.com'),
    await addOwner(store, 'bob@example.com'),
  ]
  assert.equal(await outcomeOf(store, first.key), 'used')
  proxy.swallow()
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, n) => outcomeOf(store, n % 2 === 0 ? first.key : second.key)),
  )
  assert.deepEqual([...new Set(outcomes)], ['AuthenticationFault'])
  for (let round = 0; round < 3; round += 1)
    assert.equal(await outcomeOf(store, second.key), 'AuthenticationFault')
  proxy.heal()
  const { tookMs } = await untilUsed(store, second.key)
  t.diagnostic(`used ${tookMs.toFixed()} ms after the network was back`)
  assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
})

test('a service that starts into the silence is there in time, and works when the network does', async (t) => {
  const url = await createDatabase(cluster)
  const direct = await openStore(t, url)
  const { key } = await addOwner(direct, 'ada@example.com')
  const proxy = await startTcpProxy(cluster.port)
  t.after(proxy.close)
  proxy.swallow()
  const startedAt = performance.now()
  const store = await openStore(t, through(proxy, url))
  assert.ok(performance.now() - startedAt < RETURN_MS)
  assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
  proxy.heal()
  const { tookMs } = await untilUsed(store, key)
  assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
})

async function open(
  t: TestContext,
): Promise<{ store: ServingStore; proxy: TcpProxy; url: string }> {
  const url = await createDatabase(cluster)
  const proxy = await startTcpProxy(cluster.port)
  // After the store, whose closing says goodbye through it.
  const store = await openStore(t, through(proxy, url))
  t.after(proxy.close)
  return { store, proxy, url }
}

function through(proxy: TcpProxy, url: string): string {
  return url.replace(`:${cluster.port}/`, `:${proxy.port}/`)
}
