import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { AuthenticationFault, NotConfigured } from '../../src/listing/faults.ts'
import { openDatabase, SERVING } from '../../src/postgres/database.ts'
import { createUseConnection, type UseConnection } from '../../src/postgres/use-connection.ts'
import { type Call, createOwnersByKey } from '../../src/postgres/uses.ts'
import { eventually } from '../fixtures/eventually.ts'
import { freePort } from '../fixtures/postgres-cluster.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres-database.ts'
import { openServer, type Server } from '../fixtures/postgres-server.ts'
import { addOwner } from '../fixtures/service.ts'
import { startTcpProxy } from '../fixtures/tcp-proxy.ts'
import { callWith, nameOf, openStorePatiently } from './open-batches.ts'

/*
 * The connection that uses are decided on: when it is made, what it is left for, and what the batch hears of it.
 */

let server: Server
let url: string
before(async () => {
  server = await openServer()
  url = await createDatabase(server)
})
after(() => server.remove())

test('the database is prepared before the first connecting; what that finds is heard, and tried again', async (t) => {
  const problem = new NotConfigured('too old')
  let prepared = 0
  const { connection } = await open(t, url, async () => {
    prepared += 1
    if (prepared === 1) throw problem
  })
  await assert.rejects(connection.decide([UNKNOWN]), problem)
  await untilAnswered(connection)
  assert.ok(prepared >= 2)
})

test('where nobody listens that is a fault with its reason, and the next batch tries again', async (t) => {
  const port = await freePort()
  const { connection } = await open(t, url.replace(/:\d+\//, `:${port}/`))
  for (const _ of [1, 2])
    await assert.rejects(connection.decide([UNKNOWN]), (fault) => {
      assert.ok(fault instanceof AuthenticationFault)
      assert.equal(fault.message, 'the database cannot be reached')
      assert.equal((fault.cause as NodeJS.ErrnoException).code, 'ECONNREFUSED')
      return true
    })
})

test('one connection decides batch after batch, until the server ends it', async (t) => {
  const { connection, pids } = await open(t, url)
  let first: number[] = []
  // A machine that stands still for a moment may cost it the connection.
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

test('after a statement that failed the connection is left, wherever it leads to', async (t) => {
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

test('a batch that came too late for a connection leaves it to the next, and has used no key', async (t) => {
  // Each of the silent ones is waited for half a second, which is more together than a batch has.
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
    connection.decide([callWith(key)]),
    /AuthenticationFault: the database had no answer for 1500 ms/,
  )
  assert.ok(performance.now() - startedAt >= 1_499)
  await untilAnswered(connection)
  assert.equal(await lastUse(), null)
})

test('a batch that hears nothing is given up in time, and the next one is on another connection', async (t) => {
  const proxy = await startTcpProxy(server.port)
  t.after(proxy.close)
  const { key, connection } = await open(t, url.replace(/:\d+\//, `:${proxy.port}/`))
  await untilAnswered(connection)
  proxy.swallow()
  assert.deepEqual(await outcomesOf(connection, callWith(key)), ['AuthenticationFault'])
  proxy.heal()
  await untilAnswered(connection)
})

test('a statement that outlasts the time of its batch is left, with its connection', async (t) => {
  const patient = { statementMs: 30_000, lockMs: 30_000, queryMs: 30_000 }
  const { key, connection, pids } = await open(t, url, async () => {}, patient)
  await untilAnswered(connection)
  const first = await pids()
  await asAdmin(url, async (client) => {
    await client.query('BEGIN; LOCK TABLE servers')
    await assert.rejects(
      connection.decide([callWith(key)]),
      /AuthenticationFault: the database had no answer for 1500 ms/,
    )
  })
  await untilAnswered(connection)
  await eventually(async () => (await pids()).every((pid) => !first.includes(pid)))
})

test('once it is closed nothing is left that is connected', { timeout: 30_000 }, async (t) => {
  const { connection, pids, close } = await open(t, url)
  await untilAnswered(connection)
  assert.ok((await pids()).length >= 1)
  await close()
  await eventually(async () => (await pids()).length === 0)
  const idle = await open(t, url)
  await idle.close()
})

/** A batch that costs no key anything. */
const UNKNOWN = callWith('svc_live_0')

async function untilAnswered(connection: UseConnection): Promise<void> {
  await eventually(async () => (await outcomesOf(connection, UNKNOWN))[0] === 'unknown')
}

/** The names of the outcomes, or of the fault that there was instead. */
function outcomesOf(connection: UseConnection, ...calls: Call[]): Promise<string[]> {
  return connection.decide(calls).then(
    (outcomes) => outcomes.map(nameOf),
    (fault: Error) => [fault.name],
  )
}

interface Opened {
  key: string
  connection: UseConnection
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
  const connection = createUseConnection(database, createOwnersByKey(), prepare)
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
