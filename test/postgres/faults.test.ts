import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { generateKey } from '../../src/listing/api-key.ts'
import type { ServingStore } from '../../src/listing/store.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres-database.ts'
import { addOwner } from '../fixtures/service.ts'
import { openStore, outcomeOf, RETURN_MS, untilUsed } from './outcomes.ts'

/*
 * What the service does while PostgreSQL fails: it lives, it tells the right failure, it never allows two uses of a key
 * within a second, and it is back by itself.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

for (const mode of ['fast', 'immediate'] as const)
  test(`the server is stopped (${mode}) and started again`, async (t) => {
    const { store } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const usedAt = performance.now()
    assert.equal(await outcomeOf(store, key), 'used')
    await cluster.stop(mode)
    assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
    await cluster.start()
    const { tookMs, atMs } = await untilUsed(store, key)
    t.diagnostic(`used again ${tookMs.toFixed()} ms after the server was back`)
    assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
    assert.ok(atMs - usedAt >= 1_000, `used again after ${atMs - usedAt} ms`)
  })

test('a connection ended by the server is replaced by the next call', async (t) => {
  const { store, url } = await open(t)
  for (let round = 0; round < 5; round += 1) {
    const { key } = await addOwner(store, `user${round}@example.com`)
    await asAdmin(url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'server-listing'`,
      ),
    )
    const { tookMs } = await untilUsed(store, key)
    t.diagnostic(`used after ${tookMs.toFixed()} ms`)
    assert.ok(tookMs < RETURN_MS)
  }
})

test('connections ended in the middle of uses: no key is used twice within a second', async (t) => {
  const { store, url } = await open(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const usedAt: number[] = []
  const end = performance.now() + 4_000
  const hammer = async () => {
    while (performance.now() < end) {
      if ((await outcomeOf(store, key)) === 'used') usedAt.push(performance.now())
      await delay(1)
    }
  }
  const terminate = async () => {
    while (performance.now() < end) {
      await asAdmin(url, (client) =>
        client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'server-listing'`,
        ),
      )
      await delay(150)
    }
  }
  await Promise.all([hammer(), hammer(), hammer(), terminate()])
  assert.ok(usedAt.length >= 2 && usedAt.length <= 5, `${usedAt.length} uses`)
  for (const [index, at] of usedAt.entries())
    if (index > 0) assert.ok(at - usedAt[index - 1]! >= 990, `${at - usedAt[index - 1]!} ms apart`)
})

test('a backend killed with SIGKILL makes the server recover, and known keys are held off for a second', async (t) => {
  const { store, url } = await open(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const usedAt = performance.now()
  assert.equal(await outcomeOf(store, key), 'used')
  const pid = await asAdmin(url, async (client) => {
    const { rows } = await client.query(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'server-listing' LIMIT 1`,
    )
    return Number(rows[0].pid)
  })
  process.kill(pid, 'SIGKILL')
  const seen: string[] = []
  for (let outcome = ''; outcome !== 'used'; ) {
    outcome = await outcomeOf(store, key)
    if (seen.at(-1) !== outcome) seen.push(outcome)
    assert.ok(performance.now() - usedAt < 10_000)
    await delay(5)
  }
  t.diagnostic(`used again ${(performance.now() - usedAt).toFixed()} ms after the use before`)
  assert.ok(performance.now() - usedAt >= 1_000)
  assert.deepEqual(seen.slice(-2), ['AuthenticationFault', 'used'])
  assert.equal(await outcomeOf(store, generateKey()), 'unknown')
})

test('a lock on the servers is a failed list, one on the keys a failed authentication, and both end in time', async (t) => {
  const { store, url } = await open(t)
  const { key } = await addOwner(store, 'ada@example.com', [
    { name: 'a', address: 'a.example.com' },
  ])
  for (const [table, expected] of [
    ['servers', 'ListFault'],
    ['api_keys', 'AuthenticationFault'],
  ] as const)
    await asAdmin(url, async (client) => {
      await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      assert.equal(await outcomeOf(store, key), expected)
      await client.query('ROLLBACK')
    })
  assert.equal(await outcomeOf(store, key), 'used')
})

test('five hundred requests at once of a user with two connections are all answered, and in time', async (t) => {
  const url = await createDatabase(cluster)
  const keys: string[] = []
  const owners = await openPostgresStore(url)
  for (let number = 0; number < 500; number += 1)
    keys.push((await addOwner(owners, `user${number}@example.com`)).key)
  await owners.close()
  await asAdmin(url, (client) =>
    client.query(
      `CREATE ROLE narrow LOGIN PASSWORD 'secret' CONNECTION LIMIT 2;
       GRANT ALL ON ALL TABLES IN SCHEMA public TO narrow`,
    ),
  )
  const store = await openStore(t, url.replace('postgres:secret', 'narrow:secret'))
  const startedAt = performance.now()
  const outcomes = await Promise.all(keys.map((key) => outcomeOf(store, key)))
  t.diagnostic(`in ${(performance.now() - startedAt).toFixed()} ms`)
  assert.deepEqual([...new Set(outcomes)], ['used'])
})

test('a stamp from the future, as after the clock was set back, shuts a key out for a second and no longer', async (t) => {
  const { store, url } = await open(t)
  const { key } = await addOwner(store, 'ada@example.com')
  await asAdmin(url, (client) =>
    client.query(`UPDATE api_keys SET last_used_at = now() + interval '1 hour'`),
  )
  assert.equal(await outcomeOf(store, key), 'too soon')
  const { tookMs } = await untilUsed(store, key)
  assert.ok(tookMs >= 900 && tookMs < RETURN_MS, `${tookMs} ms`)
})

test('while the list fails such a key is told that, and not again and again that it was too soon', async (t) => {
  const { store, url } = await open(t)
  const { key } = await addOwner(store, 'ada@example.com')
  await asAdmin(url, (client) =>
    client.query(
      `UPDATE api_keys SET last_used_at = now() + interval '1 hour'; ALTER TABLE servers RENAME TO elsewhere`,
    ),
  )
  assert.equal(await outcomeOf(store, key), 'ListFault')
})

test('a crash before the clock was set back holds nobody off for longer than a second', async (t) => {
  const { store, url } = await open(t)
  const { key } = await addOwner(store, 'ada@example.com')
  await asAdmin(url, (client) =>
    client.query(`UPDATE service_epoch SET started_at = now() + interval '1 hour'`),
  )
  assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
  const { tookMs } = await untilUsed(store, key)
  assert.ok(tookMs >= 900 && tookMs < RETURN_MS, `${tookMs} ms`)
})

async function open(t: TestContext): Promise<{ store: ServingStore; url: string }> {
  const url = await createDatabase(cluster)
  return { store: await openStore(t, url), url }
}
