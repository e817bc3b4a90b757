import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { startCluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin } from '../../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../../fixtures/postgres/migrated.ts'
import { addOwner } from '../../../fixtures/service.ts'
import { openStore, outcomeOf, RETURN_MS, untilGranted } from '../../../postgres/claims/outcomes.ts'
import { once } from '../../../fixtures/within.ts'

/*
 * A client connects while the server collects its processes after a crash, and then sends nothing,
 * as behind a network that fell silent. Before version 18, PostgreSQL recovers only when that
 * client's authentication_timeout is over, which is a minute by default.
 */

const AUTHENTICATION_TIMEOUT_S = 7
/** PostgreSQL waits five seconds for a stopped process. The client connects within that time. */
const CONNECTS_AFTER_MS = 1_000

test('a silent client delays the recovery for authentication_timeout at most', async (t) => {
  const settings = { authentication_timeout: `${AUTHENTICATION_TIMEOUT_S}s` }
  const cluster = await startCluster({ settings })
  t.after(() => cluster.remove())
  const store = await openStore(t, await createMigratedDatabase(cluster))
  const { key } = await addOwner(store, 'ada@example.com')
  assert.equal(await outcomeOf(store, key), 'granted')

  await asAdmin(cluster.url(), crash)
  await delay(CONNECTS_AFTER_MS)
  const silent = connect(cluster.port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.on('error', () => {})
  await once(silent, 'connect')

  const { tookMs } = await untilGranted(store, key)
  t.diagnostic(`granted again ${tookMs.toFixed()} ms after the client had connected`)
  assert.ok(tookMs < AUTHENTICATION_TIMEOUT_S * 1_000 + RETURN_MS, `back after ${tookMs} ms`)
})

/** Kills the session's own process, and stops another one for which the server then waits. */
async function crash(session: pg.Client): Promise<void> {
  const { rows } = await session.query<{ own: number; other: number }>(
    `SELECT pg_backend_pid() AS own, pid AS other FROM pg_stat_activity
     WHERE backend_type = 'checkpointer'`,
  )
  process.kill(rows[0]!.other, 'SIGSTOP')
  process.kill(rows[0]!.own, 'SIGKILL')
}
