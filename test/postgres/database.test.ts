import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { type Database, openDatabase } from '../../src/postgres/database.ts'
import { COMMAND, ENDLESS, MANAGING, SERVING } from '../../src/postgres/patience.ts'
import { eventually } from '../fixtures/eventually.ts'
import { freePort } from '../fixtures/free-port.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'

/*
 * What all connections to PostgreSQL have in common.
 */

/** Long enough for a machine that stands still for a moment. */
const SLOWLY = { queryMs: 20_000, connectMs: 20_000 }

let server: Server
let url: string
before(async () => {
  server = await openServer()
  url = await createDatabase(server)
})
after(() => server.remove())

test("each session has the settings of its task, whatever the server's defaults are", async (t) => {
  const timeouts = [
    [SERVING, '800ms', '100ms'],
    [MANAGING, '3s', '2s'],
    [COMMAND, '1min', '10s'],
    [ENDLESS, '0', '0'],
  ] as const
  for (const [patience, statement, lock] of timeouts) {
    const database = openDatabase(url, { ...patience, ...SLOWLY })
    t.after(database.close)
    const show = async (name: string) =>
      (await database.query<Record<string, string>>(`SHOW ${name}`))[0]![name]
    assert.equal(await show('statement_timeout'), statement)
    assert.equal(await show('lock_timeout'), lock)
    assert.equal(await show('idle_in_transaction_session_timeout'), '2s')
    assert.equal(await show('default_transaction_isolation'), 'read committed')
    assert.equal(await show('jit'), 'off')
    assert.equal(await show('search_path'), 'public, pg_temp')
    assert.equal(await show('synchronous_commit'), 'on')
    assert.equal(await show('row_security'), 'off')
    assert.equal(await show('application_name'), 'server-listing')
  }
})

test("a role's settings cannot weaken a session: its changes survive a crash", async (t) => {
  const role = `weak_${process.pid}`
  await asAdmin(url, (client) =>
    client.query(`
      CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'secret';
      ALTER ROLE ${role} SET synchronous_commit = off;
      ALTER ROLE ${role} SET default_transaction_isolation = 'serializable';
      ALTER ROLE ${role} SET idle_in_transaction_session_timeout = 0
    `),
  )
  const database = open(t, url.replace('postgres:secret', `${role}:secret`))
  await database.transact(async (client) => {
    const show = async (name: string) => (await client.query(`SHOW ${name}`)).rows[0][name]
    assert.equal(await show('synchronous_commit'), 'on')
    assert.equal(await show('transaction_isolation'), 'read committed')
    assert.equal(await show('idle_in_transaction_session_timeout'), '2s')
  })
})

test('a transaction commits all or nothing; its connection survives an SQL error', async (t) => {
  const database = open(t, url)
  await database.query('CREATE TABLE notes (number int PRIMARY KEY)')
  const count = async () =>
    (await database.query<{ n: number }>('SELECT count(*)::int AS n FROM notes'))[0]?.n
  assert.equal(await database.transact(async (client) => (await insert(client, 1)).rowCount), 1)
  assert.equal(await count(), 1)
  const pid = await pidOf(database)
  await assert.rejects(
    database.transact(async (client) => {
      await insert(client, 2)
      await insert(client, 1)
    }),
    pg.DatabaseError,
  )
  assert.equal(await count(), 1)
  assert.equal(await pidOf(database), pid)
  await assert.rejects(
    database.transact(async (client) => {
      await insert(client, 3)
      throw new Error('given up')
    }),
    /given up/,
  )
  assert.equal(await count(), 1)
  assert.notEqual(await pidOf(database), pid)
})

test('a connection that is lost while idle is replaced', async (t) => {
  const [database, other] = [open(t, url), open(t, url)]
  const pid = await pidOf(database)
  await other.query('SELECT pg_terminate_backend($1, 10000)', [pid])
  await eventually(async () => (await pidOf(database).catch(() => pid)) !== pid)
})

test('each host is tried once, in turn, and the last failure is thrown', async (t) => {
  const [closed, other] = [await freePort(), await freePort()]
  const found = open(t, at(closed, other, server.port))
  await pidOf(found)
  await pidOf(found)
  await assert.rejects(pidOf(open(t, at(closed, other))), { code: 'ECONNREFUSED', port: other })
  await assert.rejects(pidOf(open(t, at(closed))), { code: 'ECONNREFUSED', port: closed })
})

test('a server that rejects the service is not left for another one', async (t) => {
  const port = await freePort()
  const wrong = url.replace('secret', 'wrong').replace(/127\.0\.0\.1:\d+/, `$&,127.0.0.1:${port}`)
  const database = open(t, wrong)
  for (const _ of [1, 2]) await assert.rejects(pidOf(database), { code: '28P01' })
})

test('at most three connections are lent; a caller that waits too long fails', async (t) => {
  const database = openDatabase(url, SERVING)
  t.after(database.close)
  const clients: pg.PoolClient[] = []
  // Each call may itself take longer than the wait for a connection.
  await eventually(async () => {
    await database.acquire().then(
      (client) => clients.push(client),
      () => {},
    )
    return clients.length === 3
  })
  await assert.rejects(database.acquire(), /timeout exceeded when trying to connect/)
  for (const client of clients) client.release()
})

test('close can be called twice and ends the connections', async () => {
  const database = openDatabase(url, { ...SERVING, ...SLOWLY })
  await pidOf(database)
  assert.equal(database.close(), database.close())
  await database.close()
  await assert.rejects(pidOf(database), /after calling end/)
})

function open(t: TestContext, hosts: string): Database {
  const database = openDatabase(hosts, { ...SERVING, ...SLOWLY })
  t.after(database.close)
  return database
}

function insert(client: pg.ClientBase, number: number): Promise<pg.QueryResult> {
  return client.query('INSERT INTO notes VALUES ($1)', [number])
}

/** The URL with its host and port replaced by these ports. */
function at(...ports: number[]): string {
  return url.replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(','))
}

async function pidOf(database: Database): Promise<number> {
  const [row] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return row!.pid
}
