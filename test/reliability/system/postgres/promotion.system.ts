import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openPostgresStore } from '../../../../src/postgres/store.ts'
import { eventually } from '../../../fixtures/eventually.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../../fixtures/postgres/database.ts'
import { addOwner } from '../../../fixtures/service.ts'
import { openStore, outcomeOf } from '../../../postgres/claims/outcomes.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/*
 * A primary is killed right after a revocation, and its standby is promoted. With a synchronous
 * standby the key stays revoked. An asynchronous standby that lags does not know the revocation, so
 * that the test would notice one.
 */

const ROUNDS = 20

let primary: Cluster
let name: string
before(async () => {
  primary = await startCluster()
  name = new URL(await createDatabase(primary)).pathname.slice(1)
})
after(() => primary.remove())

const admin = (cluster: Cluster, sql: string) =>
  asAdmin(cluster.url(), (client) => client.query(sql))

async function setSynchronous(names: string): Promise<void> {
  await admin(primary, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await admin(primary, 'SELECT pg_reload_conf()')
}

async function untilFollowed(state: string): Promise<void> {
  await eventually(async () => {
    const { rows } = await admin(primary, 'SELECT sync_state FROM pg_stat_replication')
    return rows[0]?.sync_state === state
  })
}

/** Issues a key on the primary, calls `interrupt`, revokes the key and returns it. */
async function revoked(email: string, interrupt: () => Promise<void>): Promise<string> {
  const store = await openPostgresStore(primary.url(name), { create: true })
  try {
    const { user, key, keyId } = await addOwner(store, email)
    await interrupt()
    assert.ok(await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(Date.now() * 1_000)))
    return key
  } finally {
    await store.close()
  }
}

test(`a revoked key stays revoked in ${ROUNDS} promotions of a synchronous standby`, async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await setSynchronous('')
    const standby = await primary.startStandby()
    await setSynchronous('*')
    await untilFollowed('sync')
    const key = await revoked(`${round}@example.com`, async () => {})
    await primary.stop('immediate')
    const url = primary.url(name).replace(/@[^/]*/, `$&,127.0.0.1:${standby.port}`)
    await standby.control('promote')
    const store = await openStore(t, url)
    await eventually(async () => {
      const outcome = await outcomeOf(store, key)
      assert.ok(['AuthenticationFault', 'revoked'].includes(outcome), `${round}: ${outcome}`)
      return outcome === 'revoked'
    })
    // After the second in which all keys fail.
    await delay(1_000)
    assert.equal(await outcomeOf(store, key), 'revoked')
    await store.close()
    await primary.remove()
    primary = standby
  }
})

test('an asynchronous standby that lags brings a revoked key back', async (t) => {
  await setSynchronous('')
  const standby = await primary.startStandby()
  await untilFollowed('async')
  const key = await revoked('behind@example.com', async () => {
    await admin(primary, 'SELECT pg_switch_wal()')
    const { rows } = await admin(primary, 'SELECT pg_current_wal_lsn() AS lsn')
    await eventually(async () => {
      const sent = await admin(
        standby,
        `SELECT pg_last_wal_replay_lsn() >= '${rows[0].lsn}' AS done`,
      )
      return sent.rows[0].done
    })
    await standby.stop('fast')
  })
  await primary.stop('immediate')
  await standby.start()
  await standby.control('promote')
  const store = await openStore(t, standby.url(name))
  await eventually(async () => (await outcomeOf(store, key)) === 'granted')
  await primary.remove()
  primary = standby
})
