import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { migratePostgres } from '../../../src/postgres/store.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { installIn, openReader } from './listing-reader.ts'

/*
 * Any program may change the table `servers` from anywhere. The owner's next answer shows the
 * change.
 */

let server: Server
let url: string
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const admin = (sql: string, values?: unknown[], at = url) =>
  asAdmin(at, (client) => client.query(sql, values))

const rename = (name: string) =>
  `UPDATE prod.servers SET name = '${name}' WHERE host_label = 'one.example.com'`

test('a change is seen whichever installation its search path leads to', async (t) => {
  url = await createDatabase(server)
  const prod = await openReader(t, await installIn(url, 'prod'), 'ada@example.com', ['one', 'two'])
  await installIn(url, 'staging')
  assert.deepEqual((await prod.names()).toSorted(), ['one', 'two'])
  for (const path of ['staging', 'nowhere', `''`, 'pg_temp, staging']) {
    await admin(`SET search_path = ${path}; ${rename(`by ${path.replaceAll("'", '')}`)}`)
    assert.ok((await prod.names()).includes(`by ${path.replaceAll("'", '')}`), path)
  }
  await admin(
    `CREATE TEMPORARY TABLE listing_revisions (LIKE prod.listing_revisions INCLUDING INDEXES); ${rename('temporary')}`,
  )
  assert.ok((await prod.names()).includes('temporary'))
  await admin(`SET search_path = staging; DELETE FROM prod.servers WHERE name = 'temporary'`)
  assert.deepEqual(await prod.names(), ['two'])
})

test('a schema found through "$user" is pinned by its real name', async (t) => {
  url = await createDatabase(server)
  const role = `lister${new URL(url).pathname.slice(1)}`
  await admin(
    `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; CREATE SCHEMA ${role} AUTHORIZATION ${role}`,
  )
  await migratePostgres(url)
  const own = url.replace('postgres:secret', `${role}:secret`)
  await migratePostgres(own)
  const reader = await openReader(t, own, 'ada@example.com', ['one'])
  assert.deepEqual(await reader.names(), ['one'])
  await admin(`UPDATE ${role}.servers SET name = 'changed'`)
  assert.deepEqual(await reader.names(), ['changed'])
})

test('a server that changes its owner leaves one listing and enters the other', async (t) => {
  url = await createDatabase(server)
  const ada = await openReader(t, url, 'ada@example.com', ['one', 'two'])
  const bob = await openReader(t, url, 'bob@example.com', ['three'])
  await Promise.all([ada.names(), bob.names()])
  await admin(`UPDATE servers SET created_by = $1 WHERE name = 'two'`, [bob.userId])
  assert.deepEqual(await ada.names(), ['one'])
  assert.deepEqual((await bob.names()).toSorted(), ['three', 'two'])
  await admin(
    `SET session_replication_role = replica;
     UPDATE servers SET created_by = '${ada.userId}' WHERE name = 'two'`,
  )
  assert.deepEqual((await ada.names()).toSorted(), ['one', 'two'])
  assert.deepEqual(await bob.names(), ['three'])
})

const replicated = (sql: string) => admin(`SET session_replication_role = replica; ${sql}`)

test('rows written, deleted and truncated by a replica role are seen', async (t) => {
  url = await createDatabase(server)
  const { names, userId } = await openReader(t, url, 'ada@example.com', ['one'])
  assert.deepEqual(await names(), ['one'])
  await replicated(
    `INSERT INTO servers (id, created_by, name, host_label, updated_at)
     VALUES (gen_random_uuid(), '${userId}', 'two', 'two', '2000-01-01')`,
  )
  assert.deepEqual(await names(), ['one', 'two'])
  await replicated(`UPDATE servers SET name = 'changed' WHERE name = 'two'`)
  assert.deepEqual(await names(), ['one', 'changed'])
  await replicated(`DELETE FROM servers WHERE name = 'one'`)
  assert.deepEqual(await names(), ['changed'])
  await replicated('TRUNCATE servers')
  assert.deepEqual(await names(), [])
})

test("a transaction writes a listing's revision once and can roll it back", async (t) => {
  url = await createDatabase(server)
  const { names, userId } = await openReader(t, url, 'ada@example.com', ['one'])
  const insert = (role: string, count: number) =>
    `SET LOCAL session_replication_role = ${role};
     INSERT INTO servers (id, created_by, name, host_label, updated_at)
     SELECT gen_random_uuid(), '${userId}', 'two', 'two', '2000-01-01' FROM generate_series(1, ${count});`
  await names()
  for (const role of ['origin', 'replica'])
    await asAdmin(url, async (client) => {
      await client.query('BEGIN')
      for (let n = 0; n < 10; n += 1)
        await client.query(
          `SAVEPOINT a; ${insert(role, 10)} UPDATE servers SET status = 'x'; RELEASE SAVEPOINT a`,
        )
      const { rows } = await client.query(
        `SELECT n_tup_ins + n_tup_upd AS written FROM pg_stat_xact_user_tables WHERE relname = 'listing_revisions'`,
      )
      assert.equal(Number(rows[0].written), 1, role)
      await client.query('ROLLBACK')
    })
  await admin(
    `BEGIN; SAVEPOINT a; DELETE FROM servers; ROLLBACK TO SAVEPOINT a; UPDATE servers SET name = 'changed'; COMMIT`,
  )
  assert.deepEqual(await names(), ['changed'])
})

/** Each statement has its own rows and finds them in the order of insertion. */
const insertGroup = (group: string, order: readonly string[]) =>
  admin(
    `INSERT INTO servers (id, created_by, name, host_label, updated_at)
     SELECT gen_random_uuid(), owner, $1, n::text, now()
     FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (owner, place), generate_series(1, 20) AS n
     ORDER BY place`,
    [group, order],
  )

test("statements that change two owners' servers in opposite order do not deadlock", async (t) => {
  url = await createDatabase(server)
  const owners = []
  for (let n = 0; n < 6; n += 1) owners.push(await openReader(t, url, `${n}@example.com`, ['one']))
  const users = owners.map(({ userId }) => userId)
  await insertGroup('there', users)
  await insertGroup('back', users.toReversed())
  for (let round = 0; round < 20; round += 1)
    await Promise.all(
      ['there', 'back'].map((group) =>
        admin('UPDATE servers SET status = $2 WHERE name = $1', [group, String(round)]),
      ),
    )
  await Promise.all(
    ['there', 'back'].map((group) => admin('DELETE FROM servers WHERE name = $1', [group])),
  )
})
