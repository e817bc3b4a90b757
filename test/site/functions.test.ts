import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../fixtures/eventually.ts'
import { migrateFurther } from '../fixtures/later.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addAccount, hashOf, issue, live } from './acts.ts'
import { buildSite, serveSite, type ToySite } from './toy-site.ts'

/*
 * The SQL of docs/site.md: triggers of a site that call the functions of the acts. The site's
 * program is a third role, which has no right here and does not own the site's tables.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** A later release may add columns and tables. */
const LATER = `ALTER TABLE users ADD COLUMN note text; ALTER TABLE servers ADD COLUMN note text;
  ALTER TABLE api_keys ADD COLUMN note text NOT NULL DEFAULT ''`

test('a site goes on after a later migration', async (t) => {
  const site = await buildSite(t, server)
  await live(site, await serveSite(t, site), 'ada@example.com')
  await migrateFurther({ engine: 'postgres', url: site.url }, LATER)
  await live(site, await serveSite(t, site), 'bob@example.com')
})

const usersOf = async ({ queryAs }: ToySite) => {
  const { rows } = await queryAs(
    'listing',
    'SELECT external_id, email, banned_at IS NOT NULL AS is_banned FROM users ORDER BY external_id',
  )
  return rows.map((row) => [row.external_id, row.email, row.is_banned])
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
  const swapped = expected.with(0, ['1', 'eve@example.com', false])
  swapped[4] = ['5', 'ada@example.com', false]
  assert.deepEqual(await usersOf(site), swapped)
  await site.query('DELETE FROM accounts WHERE id = 5')
  await site.run('every night')
  assert.deepEqual((await usersOf(site))[1], ['2', 'ada@example.com', false])
})

test("an operator's word outlasts what the site does with the user", async (t) => {
  const site = await buildSite(t, server)
  const { answer } = await serveSite(t, site)
  const account = await addAccount(site, 'ada@a.example')
  const key = await issue(site, account)
  const write = (change: string) => site.query(`UPDATE accounts SET ${change}`)
  const say = (disabledAt: string) =>
    site.queryAs('listing', `UPDATE users SET disabled_at = ${disabledAt}`)
  const status = async () => (await answer(key)).status
  await say('now()')
  for (const change of ['mail = mail', 'banned_at = now()', 'banned_at = NULL']) {
    await write(change)
    assert.equal(await status(), 401, change)
  }
  await say('NULL')
  assert.equal(await status(), 200)
  await write('banned_at = now()')
  await say('now()')
  await say('NULL')
  assert.equal(await status(), 401)
  await write('banned_at = NULL')
  assert.equal(await status(), 200)

  await say('now()')
  await site.query('DELETE FROM accounts')
  await site.query(
    `INSERT INTO accounts (id, mail) OVERRIDING SYSTEM VALUE VALUES (${account}, 'ada@a.example')`,
  )
  const { rows } = await site.queryAs('listing', 'SELECT disabled_at, banned_at FROM users')
  assert.ok(rows[0].disabled_at instanceof Date)
  assert.equal(rows[0].banned_at, null)
  assert.equal(await status(), 401)
})

test('two users become one: the servers move, and the keys of the other user end', async (t) => {
  const site = await buildSite(t, server)
  const { answer } = await serveSite(t, site)
  const [ada, bob] = [await addAccount(site, 'a@a.example'), await addAccount(site, 'b@a.example')]
  const [hers, his] = [await issue(site, ada), await issue(site, bob)]
  await site.query('UPDATE games SET account_id = $1', [ada])
  await site.query('DELETE FROM accounts WHERE id = $1', [bob])
  assert.deepEqual(await answer(hers), { status: 200, names: ['Survival', 'Survival'] })
  assert.equal((await answer(his)).status, 401)
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
  assert.deepEqual(await answer(hers), { status: 200, names: ['Unseen'] })
  assert.equal((await answer(his)).status, 401)
  assert.deepEqual(await usersOf(site), [
    [ada, 'ada@a.example', false],
    [bob, 'bob@a.example', true],
    [null, 'root@a.example', false],
  ])
  await addAccount(site, 'eve@a.example', 'Creative')
  await changeUnseen(site, `DELETE FROM games WHERE title = 'Unseen'`)
  await site.run('every night')
  assert.deepEqual(await answer(hers), { status: 200, names: [] })
  const names = 'SELECT name FROM servers ORDER BY name'
  assert.deepEqual((await site.queryAs('listing', names)).rows, [
    { name: 'Creative' },
    { name: 'own' },
  ])
  const versions = `SELECT xmin::text FROM users UNION ALL SELECT xmin::text FROM servers`
  const { rows: before } = await site.queryAs('listing', versions)
  await site.run('every night')
  assert.deepEqual((await site.queryAs('listing', versions)).rows, before)
  // An empty list is a mistake of the site, such as a TRUNCATE. It changes nothing.
  await changeUnseen(site, 'TRUNCATE games; DELETE FROM accounts')
  await site.run('every night')
  assert.deepEqual((await site.queryAs('listing', versions)).rows, before)
})

const changeUnseen = ({ queryAs }: ToySite, sql: string) =>
  queryAs(
    'site',
    `ALTER TABLE accounts DISABLE TRIGGER USER; ALTER TABLE games DISABLE TRIGGER USER; ${sql};
     ALTER TABLE accounts ENABLE TRIGGER USER; ALTER TABLE games ENABLE TRIGGER USER`,
  )

test('the night fails instead of undoing what the site changes meanwhile', async (t) => {
  const site = await buildSite(t, server)
  await addAccount(site, 'ada@a.example')
  await changeUnseen(site, `UPDATE games SET title = 'Unseen'`)
  await site.query(`BEGIN; UPDATE games SET title = 'Newer'`)
  const night = assert.rejects(site.run('every night'), { code: '40001' })
  const waits = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await eventually(async () => (await site.queryAs('postgres', waits)).rowCount === 1)
  await site.query('COMMIT')
  await night
  const { rows } = await site.queryAs('listing', 'SELECT name FROM servers')
  assert.deepEqual(rows, [{ name: 'Newer' }])
})

test('the first load brings users, servers and bans, and keys of the site work', async (t) => {
  const site = await buildSite(t, server, {
    fill: ({ query }) =>
      query(`
        INSERT INTO accounts (mail, banned_at) VALUES ('a@a.example', NULL), ('b@a.example', now());
        INSERT INTO games (account_id, title, slug, host) VALUES (1, 'one', 'one', 'x'), (2, 'two', 'two', 'x')`),
  })
  const { answer } = await serveSite(t, site)
  const [one, two, three] = ['svc_live_1', 'svc_live_2', 'svc_live_3'] as const
  const keys = [
    { external_id: '1', name: 'bot', key_hash: hashOf(one) },
    { external_id: '2', name: 'bot', key_hash: hashOf(two), created_at: '2025-01-31T12:00:00Z' },
    { external_id: '2', name: 'old', key_hash: hashOf(three), revoked_at: '2026-01-31T12:00:00Z' },
  ]
  await site.queryAs('site', 'SELECT listing.put_keys($1)', [JSON.stringify(keys)])
  assert.deepEqual(await answer(one), { status: 200, names: ['one'] })
  assert.equal((await answer(two)).status, 401)
  await site.query('UPDATE accounts SET banned_at = NULL')
  assert.deepEqual(await answer(two), { status: 200, names: ['two'] })
  assert.equal((await answer(three)).status, 401)
})
