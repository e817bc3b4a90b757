import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { generateKey } from '../../../src/keys/api-key.ts'
import {
  type Backend,
  createAbandonedBackends,
  OWN_BACKEND,
} from '../../../src/postgres/abandoned.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { addOwner } from '../../fixtures/service.ts'
import { startTcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { openStore, outcomeOf, RETURN_MS, untilGranted } from '../../postgres/claims/outcomes.ts'
import { assertNothingHeld, awaitStandbys, backendsOf, checkStandbyAway } from './standby-away.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Backends of PostgreSQL whose connections the service has given up.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('a missing synchronous standby causes no 429 and leaves no backend or lock', async (t) => {
  await checkStandbyAway(t, cluster, { keys: 40, awayMs: 5_000 })
})

test('giving up a change that waits for the standby also ends its backend', async (t) => {
  const url = await createMigratedDatabase(cluster)
  const store = await openStore(t, url)
  const { user, key, keyId } = await addOwner(store, 'ada@example.com')
  await awaitStandbys(url, 'ghost')
  t.after(() => awaitStandbys(url, ''))
  await assert.rejects(
    recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1)),
    /Query read timeout/,
  )
  await assertNothingHeld(url)
  // The change has committed and waits only for the standby, so that it is not rolled back.
  assert.equal(await outcomeOf(store, key), 'revoked')
  const other = await openStore(t, url)
  await outcomeOf(other, generateKey())
  await other.close()
  await store.close()
  await asAdmin(url, (admin) => eventually(async () => (await backendsOf(admin)).length === 0))
})

test('backends that cannot be ended count as connections until they are gone', async (t) => {
  const url = await createMigratedDatabase(cluster)
  const { key } = await issueKey(t, url)
  const store = await openStore(t, url)
  await asAdmin(url, async (admin) => {
    const stopped = new Set<number>()
    t.after(() => {
      for (const pid of stopped) process.kill(pid, 'SIGCONT')
    })
    let most = 0
    const until = performance.now() + 6_000
    while (performance.now() < until) {
      for (const pid of await decidersOf(admin)) {
        process.kill(pid, 'SIGSTOP')
        stopped.add(pid)
      }
      const asked = [outcomeOf(store, key), outcomeOf(store, generateKey())]
      most = Math.max(most, (await backendsOf(admin)).length)
      await Promise.all(asked)
    }
    t.diagnostic(`${stopped.size} stopped, at most ${most} at a time`)
    assert.ok(stopped.size >= 2)
    assert.ok(most <= 4, `${most} backends`)
    for (const pid of stopped) process.kill(pid, 'SIGCONT')
    stopped.clear()
  })
  const { tookMs } = await untilGranted(store, key)
  assert.ok(tookMs < RETURN_MS, `back after ${tookMs} ms`)
})

test('backends cut off by a silent network are ended once the network heals', async (t) => {
  const url = await createMigratedDatabase(cluster)
  const { key } = await issueKey(t, url)
  const proxy = await startTcpProxy(cluster.port)
  const store = await openStore(t, url.replace(`:${cluster.port}/`, `:${proxy.port}/`))
  t.after(proxy.close)
  await asAdmin(url, async (admin) => {
    for (const _ of [1, 2]) {
      await untilGranted(store, key)
      const cutOff = await decidersOf(admin)
      assert.ok(cutOff.length > 0)
      proxy.swallow()
      assert.equal(await outcomeOf(store, key), 'AuthenticationFault')
      proxy.heal()
      await untilGranted(store, key)
      const left = await backendsOf(admin)
      assert.ok(!left.some((pid) => cutOff.includes(pid)), `${left.join()} of ${cutOff.join()}`)
    }
  })
})

test('a later backend with the same process id is left alone', async () => {
  const url = await createMigratedDatabase(cluster)
  await asAdmin(url, async (admin) => {
    const { rows } = await admin.query<Backend>(OWN_BACKEND)
    const [own] = rows
    const asked: unknown[][] = []
    const abandoned = createAbandonedBackends((text, values) =>
      asAdmin(url, async (other) => {
        asked.push(values)
        return (await other.query<Backend>(text, values)).rows
      }),
    )
    abandoned.add({ ...own!, startedAt: '1' })
    await abandoned.end()
    assert.deepEqual([abandoned.count(), asked], [0, [[[own!.pid], ['1']]]])
    assert.deepEqual((await admin.query<Backend>(OWN_BACKEND)).rows, [own])
    await abandoned.close()
  })
})

test('an unreachable server is asked every second until the store closes', async () => {
  const answers: (Backend[] | Error)[] = [new Error('away'), [{ pid: 1, startedAt: '1' }], []]
  let asked = 0
  const abandoned = createAbandonedBackends(async () => {
    asked += 1
    const answer = answers.shift() ?? []
    if (answer instanceof Error) throw answer
    return answer
  })
  abandoned.add({ pid: 1, startedAt: '1' })
  await eventually(async () => abandoned.count() === 0)
  assert.equal(asked, 3)
  answers.push(new Error('away'))
  abandoned.add({ pid: 2, startedAt: '2' })
  await abandoned.close()
  await delay(1_200)
  assert.deepEqual([asked, abandoned.count()], [4, 1])
})

/** Issues a key through a store that is closed again, so that no connection of it is left. */
async function issueKey(t: TestContext, url: string): Promise<{ key: string }> {
  const store = await openStore(t, url)
  const owner = await addOwner(store, 'ada@example.com')
  await store.close()
  return owner
}

/** The backends whose last statement decided claims. */
async function decidersOf(admin: Parameters<typeof backendsOf>[0]): Promise<number[]> {
  const { rows } = await admin.query(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'server-listing'
       AND datname = current_database() AND query LIKE '%AS asked (key_hash, held_id,%'`,
  )
  return rows.map(({ pid }) => pid as number)
}
