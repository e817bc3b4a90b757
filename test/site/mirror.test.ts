import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../src/postgres/database.ts'
import { MIGRATIONS, migrate } from '../../src/postgres/migrate.ts'
import { ENDLESS } from '../../src/postgres/patience.ts'
import { eventually } from '../fixtures/eventually.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addAccount, issue, live } from './acts.ts'
import { buildSite, serveSite, type ToySite } from './toy-site.ts'

/*
 * The SQL of docs/site.md, as a role that has only the rights of the page.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** A later release may add columns and tables. */
const LATER = {
  number: MIGRATIONS.length + 1,
  name: 'later.sql',
  sql: `ALTER TABLE users ADD COLUMN note text; ALTER TABLE api_keys ADD COLUMN note text NOT NULL DEFAULT '';
    ALTER TABLE servers ADD COLUMN note text; ALTER TABLE identities ADD COLUMN note text`,
  programMin: 1,
}

for (const { number } of MIGRATIONS)
  test(`a site that begins on migration ${number} goes on after the later ones`, async (t) => {
    const all = [...MIGRATIONS, LATER]
    const site = await buildSite(t, server, {
      async shell(commands, url) {
        if (commands.includes('postgres://')) await migrateTo(url, all.slice(0, number))
      },
    })
    await live(site, await serveSite(t, site), 'ada@example.com')
    await migrateTo(site.url, all)
    await live(site, await serveSite(t, site), 'bob@example.com')
  })

async function migrateTo(url: string, migrations: typeof MIGRATIONS): Promise<void> {
  const database = openDatabase(url, ENDLESS)
  try {
    await migrate(database, migrations)
  } finally {
    await database.close()
  }
}

const usersOf = async ({ query }: ToySite) => {
  const { rows } = await query(
    'SELECT external_id, email, disabled_at IS NOT NULL AS is_disabled FROM listing.users ORDER BY external_id',
  )
  return rows.map((row) => [row.external_id, row.email, row.is_disabled])
}

test('an address that is taken or not ASCII stays out, and the statement of the site succeeds', async (t) => {
  const site = await buildSite(t, server)
  await site.queryAs('listing', `INSERT INTO users (email) VALUES ('root@example.com')`)
  await site.query(
    `INSERT INTO accounts (mail) VALUES ('Ada@Example.com'), ('ada@example.com'), ('root@example.com'),
      ('bob@exämple.com'), ('eve@example.com'), (U&'\\212Aim@example.com')`,
  )
  const expected = [
    ['1', 'ada@example.com', false],
    ['2', null, false],
    ['3', null, false],
    ['4', null, false],
    ['5', 'eve@example.com', false],
    ['6', null, false],
    [null, 'root@example.com', false],
  ]
  assert.deepEqual(await usersOf(site), expected)
  await site.query(`
    UPDATE accounts SET mail = CASE id WHEN 1 THEN 'EVE@example.com' ELSE 'Ada@Example.com' END
    WHERE id IN (1, 5)`)
  const swapped = expected.map(([id, email, isDisabled]) =>
    id === '1'
      ? [id, 'eve@example.com', isDisabled]
      : id === '5'
        ? [id, 'ada@example.com', isDisabled]
        : [id, email, isDisabled],
  )
  assert.deepEqual(await usersOf(site), swapped)
  await site.query('DELETE FROM accounts WHERE id = 5')
  await site.run('every night')
  assert.deepEqual((await usersOf(site))[1], ['2', 'ada@example.com', false])
})

test('the night makes good what no trigger saw, deletes no user, and leaves other accounts', async (t) => {
  const site = await buildSite(t, server)
  const { answer } = await serveSite(t, site)
  const [ada, bob] = [
    await addAccount(site, 'ada@a.example'),
    await addAccount(site, 'bob@a.example'),
  ]
  const [hers, his] = [await issue(site, ada), await issue(site, bob)]
  await site.queryAs(
    'listing',
    `INSERT INTO users (email) VALUES ('root@a.example');
     INSERT INTO servers (created_by, name, host_label) SELECT id, 'own', 'x' FROM users WHERE external_id IS NULL`,
  )
  await changeUnseen(
    site,
    `DELETE FROM accounts WHERE id = ${bob}; UPDATE games SET title = 'Unseen'`,
  )
  await site.run('every night')
  assert.deepEqual(await answer(hers.key), { status: 200, names: ['Unseen'] })
  assert.equal((await answer(his.key)).status, 401)
  assert.deepEqual(await usersOf(site), [
    [ada, 'ada@a.example', false],
    [bob, 'bob@a.example', true],
    [null, 'root@a.example', false],
  ])
  await site.query('TRUNCATE games')
  await site.run('every night')
  assert.deepEqual(await answer(hers.key), { status: 200, names: [] })
  const { rows } = await site.queryAs('listing', 'SELECT name FROM servers')
  assert.deepEqual(rows, [{ name: 'own' }])
  const versions = `SELECT xmin::text FROM listing.users UNION ALL SELECT xmin::text FROM listing.servers`
  const { rows: before } = await site.query(versions)
  await site.run('every night')
  assert.deepEqual((await site.query(versions)).rows, before)
})

const changeUnseen = ({ query }: ToySite, sql: string) =>
  query(
    `ALTER TABLE accounts DISABLE TRIGGER USER; ALTER TABLE games DISABLE TRIGGER USER; ${sql};
     ALTER TABLE accounts ENABLE TRIGGER USER; ALTER TABLE games ENABLE TRIGGER USER`,
  )

test('the night fails instead of undoing what the site changes meanwhile', async (t) => {
  const site = await buildSite(t, server)
  await addAccount(site, 'ada@a.example')
  await changeUnseen(site, `UPDATE games SET title = 'Unseen'`)
  await site.query(`BEGIN; UPDATE games SET title = 'Newer'`)
  const night = assert.rejects(site.queryAs('site', site.textOf('every night')), { code: '40001' })
  const waits = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await eventually(async () => (await site.queryAs('postgres', waits)).rowCount === 1)
  await site.query('COMMIT')
  await night
  const { rows } = await site.queryAs('listing', 'SELECT name FROM servers')
  assert.deepEqual(rows, [{ name: 'Newer' }])
})

test('the first load brings users, servers, bans and keys with their revocations', async (t) => {
  const site = await buildSite(t, server, {
    fill: ({ query }) =>
      query(`
        INSERT INTO accounts (mail, banned_at) VALUES ('a@a.example', NULL), ('b@a.example', now());
        INSERT INTO games (account_id, title, slug, host) VALUES (1, 'one', 'one', 'x'), (2, 'two', 'two', 'x');
        INSERT INTO tokens (account_id, label, start, sha256, revoked_at)
        SELECT least(n, 2), 'bot', 'svc_live_', encode(sha256(('svc_live_' || n)::bytea), 'hex'),
          CASE WHEN n = 3 THEN now() END
        FROM generate_series(1, 3) AS n`),
  })
  const { answer } = await serveSite(t, site)
  assert.deepEqual(await answer('svc_live_1'), { status: 200, names: ['one'] })
  assert.equal((await answer('svc_live_2')).status, 401)
  await site.query('UPDATE accounts SET banned_at = NULL')
  assert.deepEqual(await answer('svc_live_2'), { status: 200, names: ['two'] })
  assert.equal((await answer('svc_live_3')).status, 401)
})
