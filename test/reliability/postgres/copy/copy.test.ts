import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { formatInstant } from '../../../../src/listing/instant.ts'
import { assertRefused } from '../../../cli/command.ts'
import { createClockedDatabase } from '../../../fixtures/postgres/clock.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { ask } from '../../../fixtures/requests.ts'
import {
  ADA,
  addAda,
  addManyKeys,
  addOddServers,
  ledgerOn,
  rowsInFile,
  rowsQuery,
} from './ledger.ts'

/*
 * `copy`, run as a process between real databases: the content that it carries.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('every field of every row is copied, instants to the microsecond', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  const { key } = await addAda(ledger)
  const served = await ledger.program.serve()
  await ask(served.port, { key })
  served.kill('SIGTERM')
  await served.ended
  ledger.inFile(addOddServers)
  // One key whose last use was compacted into `last_uses`, with a newer one in `uses`.
  ledger.inFile((database) => {
    database.exec(
      'INSERT INTO last_uses SELECT serial, 7, 7, 1 FROM api_keys WHERE true ON CONFLICT DO NOTHING',
    )
    database.exec(
      'INSERT INTO uses SELECT 1000000, min(serial), 1769860800123457, 8, 1 FROM api_keys',
    )
  })
  const { code, stdout, stderr } = await ledger.copy()
  assert.deepEqual(
    [code, stdout, stderr],
    [
      0,
      '',
      'copied and compared all rows: 2 in users, 1 in organizations, 10 in servers, 2 in api_keys, 0 in accounts, 4 in audit_log, 1 in members, 0 in invitations, 1 in use_counts\n' +
        `database: ${ledger.url.replace(/^.*@/, '')}\n`,
    ],
  )

  for (const table of ['users', 'organizations', 'servers', 'api_keys']) {
    const rows = await ledger.query(rowsQuery(table))
    assert.deepEqual(
      rows.map(({ row }) => row),
      ledger.inFile((database) => rowsInFile(database, table)),
      table,
    )
  }
  // The same in PostgreSQL's own words.
  const uses = await ledger.query(
    `SELECT to_char(last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS at FROM api_keys ORDER BY 1`,
  )
  assert.deepEqual(uses, [
    { at: '1970-01-01 00:00:00.000007' },
    { at: '2026-01-31 12:00:00.123457' },
  ])
})

test('a service that runs on the empty database serves the copied rows at once', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  const { key, revoked } = await addAda(ledger)
  // Another key, because the first one is limited for a moment.
  const other = await ledger.program.done(`key issue --user ${ADA} --name other`)
  const before = await ledger.program.serve()
  const listed = await ask(before.port, { key: other })
  assert.equal(listed.status, 200)
  before.kill('SIGTERM')
  await before.ended
  const later = formatInstant((Date.now() + 60_000) * 1000)

  const { port } = await ledger.program.serve(ledger.onPostgres)
  assert.equal((await ask(port, { key })).status, 401)
  assert.equal((await ledger.copy()).code, 0)
  const after = await ask(port, { key })
  assert.deepEqual([after.status, after.body], [200, listed.body])
  assert.equal((await ask(port, { key })).status, 429)
  assert.equal((await ask(port, { key: revoked })).status, 401)
  const [revision] = await ledger.query(
    'SELECT count(*)::int AS count FROM listing_revisions JOIN users ON user_id = users.id',
  )
  assert.equal(revision?.count, 1)

  // The listing was cached under a revision of its own, so that the next answer shows later
  // changes.
  await delay(1_000)
  const stdin = `[{"name":"Later","address":"later.example.com","updated_at":"${later}"}]`
  await ledger.program.done(`server import --user ${ADA} -`, { ...ledger.onPostgres, stdin })
  assert.match((await ask(port, { key })).body, /^\{"servers":\[\{[^}]*"name":"Later"/)
})

test('a key claimed on SQLite stays limited on PostgreSQL until its second is over', async (t) => {
  const { url, elapse } = await createClockedDatabase(t, cluster)
  const ledger = await ledgerOn(t, cluster, url)
  const { key } = await addAda(ledger)
  const { port } = await ledger.program.serve(ledger.onPostgres)
  // A new database limits every key for its first second.
  await elapse(1_000)
  const [clock] = await ledger.query(
    `SELECT extract(epoch FROM clock_timestamp()) * 1000000 AS micros`,
  )
  ledger.inFile((database) =>
    database.exec(
      `INSERT INTO last_uses SELECT serial, ${Number(clock?.micros)}, 1, 1 FROM api_keys`,
    ),
  )
  assert.equal((await ledger.copy()).code, 0)
  await elapse(999)
  assert.equal((await ask(port, { key })).status, 429)
  await elapse(1)
  assert.equal((await ask(port, { key })).status, 200)
})

test('new tables and columns are copied, or named if the target lacks them', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  await ledger.program.done('migrate', ledger.onPostgres)
  // The table is first by name, but its references put it after users and organizations.
  ledger.inFile((database) =>
    database.exec(`
      CREATE TABLE adverts (
        number INTEGER PRIMARY KEY, "user" TEXT REFERENCES users (id), place TEXT REFERENCES organizations (id),
        is_open INTEGER, secret BLOB, at INTEGER, at_text TEXT
      ) STRICT;
      INSERT INTO adverts SELECT 1, users.id, organizations.id, 1, x'00ff', 1769860800123457, '2026-01-31T12:00:00.123Z'
        FROM users, organizations;
      INSERT INTO adverts (number) VALUES (9223372036854775807);
    `),
  )
  // A table of another program in the same database does not count.
  await ledger.query('CREATE SCHEMA theirs')
  await ledger.query('CREATE TABLE theirs.adverts (number bigint)')
  assertRefused(await ledger.copy(), 1, 'the target has no table adverts')
  await ledger.query(`
    CREATE TABLE adverts (
      number bigint PRIMARY KEY, "user" uuid REFERENCES users, place uuid REFERENCES organizations,
      is_open boolean, secret bytea, at timestamptz
    )`)
  assertRefused(await ledger.copy(), 1, "the target's table adverts has no column at_text")
  await ledger.query('ALTER TABLE adverts ADD COLUMN at_text point')
  assertRefused(await ledger.copy(), 1, 'column at_text of adverts', 'type')
  assert.equal(await ledger.countTarget(), 0)
  await ledger.query('ALTER TABLE adverts ALTER COLUMN at_text TYPE timestamptz USING NULL')

  const copied = await ledger.copy()
  assert.equal(copied.code, 0, copied.stderr)
  assert.match(copied.stderr, /, 2 in adverts/)
  const rows = await ledger.query(
    `SELECT number::text, is_open, encode(secret, 'hex') AS secret, extract(epoch FROM at)::text AS at,
       extract(epoch FROM at_text)::text AS at_text, "user" IS NOT NULL AND place IS NOT NULL AS refers
     FROM adverts ORDER BY number`,
  )
  const none = { is_open: null, secret: null, at: null, at_text: null, refers: false }
  assert.deepEqual(rows, [
    {
      number: '1',
      is_open: true,
      secret: '00ff',
      at: '1769860800.123457',
      at_text: '1769860800.123000',
      refers: true,
    },
    { number: '9223372036854775807', ...none },
  ])
})

test('copy shows its progress on a terminal', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  ledger.inFile((database) => addManyKeys(database, 3_000))
  const command = `copy --from sqlite:${ledger.program.databasePath}`
  const shown = await ledger.program.run(command, { ...ledger.onPostgres, hasTerminal: true })
  const lines = shown.stderr.replaceAll('\u001b[K', '<').split('\r').slice(1)
  assert.match(lines.pop() ?? '', /^<copied and compared all rows: 3,001 in users/)
  assert.ok(lines.includes('api_keys: 15,002 of 15,002 rows copied<'), shown.stderr)
  assert.ok(lines.includes('api_keys: 15,002 of 15,002 rows compared<'), shown.stderr)
  assert.ok(lines.filter((line) => line.startsWith('api_keys: ')).length > 2, shown.stderr)
})
