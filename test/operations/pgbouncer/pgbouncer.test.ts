import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { diagnose } from '../../cli/doctor/findings.ts'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { PASSWORD } from '../../fixtures/dashboard.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { personAt } from '../../fixtures/person.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { type Settings, startPgBouncer } from './pgbouncer.ts'

const SENTENCE =
  /a connection pooler in front of PostgreSQL shares backends between transactions; set pool_mode = session in PgBouncer, or connect to PostgreSQL directly/

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('keys, claims, revocations and the dashboard work through session mode', async (t) => {
  const pooler = await startPgBouncer(t, server, { pool_mode: 'session' })
  const env = { DATABASE_URL: pooler.through(await createDatabase(server)), SIGN_UP: 'open' }
  const program = programIn(t)
  await program.done('migrate', { env })
  const served = await program.serve({ env })
  await served.written(/dashboard at/)
  const ada = personAt(Number(/dashboard at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())![1]))
  await ada.submit('/sign-up', { email: 'ada@example.com', password: PASSWORD })
  const key = await ada.issue('bot')
  const before = performance.now()
  assert.equal(await granted(served.port, key), '{"servers":[]}')
  const { status } = await ask(served.port, { key })
  if (performance.now() - before < 1_000) assert.ok([429, 502].includes(status), `${status}`)

  const cobblestone = { name: 'Cobblestone', address: 'play.example.com', edition: 'java' }
  await ada.submit('/dashboard/servers/new', { ...cobblestone, status: 'published', form: 'one' })
  const other = await program.done('key issue --user ada@example.com --name other', { env })
  assert.match(await granted(served.port, other), /Cobblestone/)

  await program.done('key revoke --key-stdin', { env, stdin: other })
  await refused(served.port, other)
  served.kill('SIGTERM')
  assert.equal((await served.ended).code, 0)

  // Its connections go back to PgBouncer, which lends them to the next process.
  const next = await program.serve({ env })
  await refused(next.port, other)
  assert.match(await granted(next.port, key), /Cobblestone/)
})

test('the doctor looks at the connections to PgBouncer and from there to PostgreSQL', async (t) => {
  const url = await createMigratedDatabase(server)
  const pooler = await startPgBouncer(t, server, { pool_mode: 'session' })
  const found = await diagnose(programIn(t), { DATABASE_URL: pooler.through(url) })
  assert.match(found.database_tls!.found, /^the connection through the pooler is encrypted where/)
})

test('a URL with options is refused, and the sentence says how to choose a schema', async (t) => {
  const url = await createDatabase(server)
  const pooler = await startPgBouncer(t, server, { pool_mode: 'session' })
  const DATABASE_URL = `${pooler.through(url)}?options=-csearch_path%3Dlisting`
  const program = programIn(t)
  assertRefused(await program.run('migrate', { env: { DATABASE_URL } }), 1, /accepts no options/)
  const name = new URL(url).pathname.slice(1)
  await asAdmin(url, async (client) => {
    await client.query('CREATE SCHEMA listing')
    await client.query(`ALTER DATABASE ${name} SET search_path = listing`)
  })
  await program.done('migrate', { env: { DATABASE_URL: pooler.through(url) } })
  const { rows } = await asAdmin(url, (client) =>
    client.query(`SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'listing'`),
  )
  assert.ok(rows[0].tables > 0)
})

const SHARED: Record<string, Settings> = {
  'transaction mode': { pool_mode: 'transaction' },
  'transaction mode with a single backend': { pool_mode: 'transaction', default_pool_size: '1' },
  'transaction mode that takes backends in turn': {
    pool_mode: 'transaction',
    min_pool_size: '5',
    server_round_robin: '1',
  },
  'transaction mode that resets each backend': {
    pool_mode: 'transaction',
    server_reset_query_always: '1',
  },
  'statement mode': { pool_mode: 'statement' },
}

for (const [name, settings] of Object.entries(SHARED))
  test(`${name} is refused with a sentence, and changes no setting of a backend`, async (t) => {
    const url = await createMigratedDatabase(server)
    const pooler = await startPgBouncer(t, server, settings)
    const DATABASE_URL = pooler.through(url)
    const program = programIn(t)
    assertRefused(await program.run('user list', { env: { DATABASE_URL } }), 1, SENTENCE)
    const { rows } = await asAdmin(DATABASE_URL, (client) =>
      client.query('SHOW idle_in_transaction_session_timeout'),
    )
    assert.deepEqual(rows, [{ idle_in_transaction_session_timeout: '0' }])
  })

test('transaction mode is 503 until PgBouncer has session mode', async (t) => {
  const url = await createMigratedDatabase(server)
  const direct = { DATABASE_URL: url }
  const pooler = await startPgBouncer(t, server, { pool_mode: 'transaction' })
  const env = { DATABASE_URL: pooler.through(url) }
  const program = programIn(t)
  await program.done('user add ada@example.com', { env: direct })
  const key = await program.done('key issue --user ada@example.com --name bot', { env: direct })

  const ended = await program.begin('serve --require-database', { env }).ended
  assert.equal(ended.code, 78)
  assert.match(ended.stderr, SENTENCE)
  const served = await program.serve({ env })
  await eventually(async () => (await ask(served.port, { key })).status === 503)
  assert.match(served.stdout(), SENTENCE)

  pooler.reload({ pool_mode: 'session' })
  await eventually(async () => (await ask(served.port, { key })).status === 200)
})

/** The listing of a key. A busy machine may need several tries, and a limited key a second. */
async function granted(port: number, key: string): Promise<string> {
  let listing = ''
  await eventually(async () => {
    const { status, body } = await ask(port, { key })
    assert.ok([200, 429, 502].includes(status), `${status}: ${body}`)
    listing = body
    return status === 200
  })
  return listing
}

/** Resolves when a revoked key gets 401. It may get a 502 before, and nothing else. */
async function refused(port: number, key: string): Promise<void> {
  await eventually(async () => {
    const { status } = await ask(port, { key })
    assert.ok([401, 502].includes(status), `a revoked key got ${status}`)
    return status === 401
  })
}
