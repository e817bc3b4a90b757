import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { startCluster } from '../../../fixtures/postgres/cluster.ts'
import { createMigratedDatabase } from '../../../fixtures/postgres/migrated.ts'
import { addOwner } from '../../../fixtures/service.ts'
import { openStore, outcomeOf, RETURN_MS } from '../../../postgres/claims/outcomes.ts'

/*
 * A client connects while the server collects its processes after a crash, and then sends nothing,
 * as behind a network that fell silent. Before version 18, PostgreSQL recovers only when that
 * client's authentication_timeout is over, which is a minute by default.
 */

const AUTHENTICATION_TIMEOUT_S = 7
/** PostgreSQL kills processes that have not ended within this time after a crash. */
const KILLED_MS = 5_000

test('a silent client delays the recovery for authentication_timeout at most', async (t) => {
  const settings = { authentication_timeout: `${AUTHENTICATION_TIMEOUT_S}s` }
  const cluster = await startCluster({ settings })
  t.after(() => cluster.remove())
  const store = await openStore(t, await createMigratedDatabase(cluster))
  const { key } = await addOwner(store, 'ada@example.com')
  assert.equal(await outcomeOf(store, key), 'granted')

  const [killed, stopped] = await Promise.all([openBackend(), openBackend()])
  // The server waits for this one, and does not recover before the client has connected.
  process.kill(stopped, 'SIGSTOP')
  process.kill(killed, 'SIGKILL')
  await delay(KILLED_MS / 5)
  const silent = connect(cluster.port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.on('error', () => {})
  await once(silent, 'connect')

  const since = performance.now()
  const backMs = () => performance.now() - since
  const limitMs = AUTHENTICATION_TIMEOUT_S * 1_000 + RETURN_MS
  for (let outcome = ''; outcome !== 'granted'; await delay(50)) {
    assert.ok(backMs() < limitMs, `no claim was granted within ${limitMs} ms`)
    outcome = await outcomeOf(store, key)
  }
  t.diagnostic(`granted again ${backMs().toFixed()} ms after the client had connected`)

  async function openBackend(): Promise<number> {
    const client = new pg.Client(cluster.url())
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    return rows[0]!.pid
  }
})
