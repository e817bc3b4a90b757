import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { AuthenticationFault, NotConfigured } from '../../../src/model/faults.ts'
import { openDatabase } from '../../../src/postgres/database.ts'
import { SERVING } from '../../../src/postgres/patience.ts'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'
import {
  createClaimConnection,
  type ClaimConnection,
} from '../../../src/postgres/claims/claim-connection.ts'
import type { Call } from '../../../src/claims/call.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addOwner } from '../../fixtures/service.ts'
import { startTcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { callWith, nameOf, openStorePatiently } from './open-batches.ts'

/* The connection that decides claims: when it is opened or given up, and what the batch gets. */

let server: Server
let url: string
before(async () => {
  server = await openServer()
  url = await createDatabase(server)
})
after(() => server.remove())

test('the database is prepared before the first connection; a failure is retried', async (t) => {
  const problem = new NotConfigured('too old')
  let prepared = 0
  const { connection } = await open(t, url, async () => {
    prepared += 1
    if (prepared === 1) throw problem
  })
  await assert.rejects(connection.claimBatch([UNKNOWN]), problem)
  await untilAnswered(connection)
  assert.ok(prepared >= 2)
})

test('a refused connection is a fault with its cause; the next batch tries again', async (t) => {
  const port = await freePort()
  const { connection } = await open(t, url.replace(/:\d+\//, `:${port}/`))
  for (const _ of [1, 2])
    await assert.rejects(connection.claimBatch([UNKNOWN]), (fault) => {
      assert.ok(fault instanceof AuthenticationFault)
      assert.equal(fault.message, 'the database cannot be reached')
      assert.equal((fault.cause as NodeJS.ErrnoException).code, 'ECONNREFUSED')
      return true
    })
})

test('one connection decides batch after batch until the server ends it', async (t) => {
  const { connection, pids } = await open(t, url)
  let first: number[] = []
  // A machine that stands still for a moment may lose the connection.
  await eventually(async () => {
    await untilAnswered(connection)
    first = await pids()
    for (let count = 0; count < 3; count += 1) await outcomesOf(connection, UNKNOWN)
    return first.length === 1 && isDeepStrictEqual(await pids(), first)
  })
  await asAdmin(url, (client) => client.query('SELECT pg_terminate_backend($1)', first))
  await untilAnswered(connection)
  assert.notDeepEqual(await pids(), first)
})

test('a failed statement ends the connection', async (t) => {
  const { key, connection, pids } = await open(t, url)
  await untilAnswered(connection)
  const first = await pids()
  await asAdmin(url, (client) => client.query('ALTER TABLE servers RENAME TO elsewhere'))
  await eventually(async () => {
    const outcomes = await outcomesOf(connection, callWith(key), UNKNOWN)
    return isDeepStrictEqual(outcomes, ['ListFault', 'unknown'])
  })
  await asAdmin(url, (client) => client.query('ALTER TABLE elsewhere RENAME TO servers'))
  await untilAnswered(connection)
  assert.notDeepEqual(await pids(), first)
})

test('a batch without a connection in time claims no key; the next batch uses it', async (t) => {
  // Each silent host takes half a second, together more than a batch has.
  const silent = await startTcpProxy(server.port)
  t.after(silent.close)
  silent.swallow()
  const { port } = silent
  const hosts = [port, port, port, port, server.port].map((number) => `127.0.0.1:${number}`)
  const { key, connection, lastUse } = await open(
    t,
    url.replace(/127\.0\.0\.1:\d+/, hosts.join(',')),
  )
  const startedAt = performance.now()
  await assert.rejects(
    connection.claimBatch([callWith(key)]),
    /AuthenticationFault: the database had no answer for 1500 ms/,
  )
  assert.ok(performance.now() - startedAt >= 1_499)
  await untilAnswered(connection)
  assert.equal(await lastUse(), null)
})

test('a batch without an answer is given up in time; the next one reconnects', async (t) => {
  const proxy = await startTcpProxy(server.port)
  t.after(proxy.close)
  const { key, connection } = await open(t, url.replace(/:\d+\//, `:${proxy.port}/`))
  await untilAnswered(connection)
  proxy.swallow()
  assert.deepEqual(await outcomesOf(connection, callWith(key)), ['AuthenticationFault'])
  proxy.heal()
  await untilAnswered(connection)
})

test('a statement that outlasts its batch is given up with its connection', async (t) => {
  const patient = { statementMs: 30_000, lockMs: 30_000, queryMs: 30_000, connectMs: 500 }
  const { key, connection, pids } = await open(t, url, async () => {}, patient)
  await untilAnswered(connection)
  const first = await pids()
  await asAdmin(url, async (client) => {
    await client.query('BEGIN; LOCK TABLE servers')
    await assert.rejects(
      connection.claimBatch([callWith(key)]),
      /AuthenticationFault: the database had no answer for 1500 ms/,
    )
  })
  await untilAnswered(connection)
  await eventually(async () => (await pids()).every((pid) => !first.includes(pid)))
})

test('close leaves no connection', { timeout: 30_000 }, async (t) => {
  const { connection, pids, close } = await open(t, url)
  await untilAnswered(connection)
  assert.ok((await pids()).length >= 1)
  await close()
  await eventually(async () => (await pids()).length === 0)
  const idle = await open(t, url)
  await idle.close()
})

/** A batch that claims no key. */
const UNKNOWN = callWith('svc_live_0')

async function untilAnswered(connection: ClaimConnection): Promise<void> {
  await eventually(async () => (await outcomesOf(connection, UNKNOWN))[0] === 'unknown')
}

/** The names of the outcomes, or of the fault. */
function outcomesOf(connection: ClaimConnection, ...calls: Call[]): Promise<string[]> {
  return connection.claimBatch(calls).then(
    (outcomes) => outcomes.map(nameOf),
    (fault: Error) => [fault.name],
  )
}

interface Opened {
  key: string
  connection: ClaimConnection
  /** The server's processes for this connection. */
  pids(): Promise<number[]>
  lastUse(): Promise<unknown>
  close(): Promise<void>
}

async function open(
  t: TestContext,
  at: string,
  prepare = async () => {},
  patience = SERVING,
): Promise<Opened> {
  const store = await openStorePatiently(url)
  const { key, keyId } = await addOwner(store, `ada-${randomUUID()}@example.com`)
  await store.close()
  const database = openDatabase(at, patience)
  const connection = createClaimConnection(database, createKnownKeys(), prepare)
  const close = async () => {
    connection.close()
    await database.close()
  }
  t.after(close)
  const pids = () =>
    asAdmin(url, async (client) => {
      const { rows } = await client.query(
        `SELECT pid FROM pg_stat_activity
         WHERE application_name = 'server-listing' AND datname = current_database() ORDER BY pid`,
      )
      return rows.map(({ pid }) => pid as number)
    })
  const lastUse = () =>
    asAdmin(url, async (client) => {
      const { rows } = await client.query('SELECT last_used_at FROM api_keys WHERE id = $1', [
        keyId,
      ])
      return rows[0].last_used_at as unknown
    })
  return { key, connection, pids, lastUse, close }
}
