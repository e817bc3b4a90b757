import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../src/postgres/database.ts'
import { MIGRATIONS, migrate } from '../../src/postgres/migrate.ts'
import { ENDLESS } from '../../src/postgres/patience.ts'
import { migratePostgres, openPostgresStore } from '../../src/postgres/store.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a command leaves a schema alone that lacks a migration, and names migrate', async (t) => {
  const url = await createDatabase(server)
  const database = openDatabase(url, ENDLESS)
  t.after(database.close)
  const tables = () =>
    database.query(
      'SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace',
    )
  const open = () => openPostgresStore(url, { create: false })
  await assert.rejects(open(), /no tables yet; `server-listing migrate`/)
  assert.deepEqual(await tables(), [])
  await migrate(database, MIGRATIONS.slice(0, -1))
  const before = await tables()
  await assert.rejects(open(), /older than this program.*`server-listing migrate`/)
  assert.deepEqual(await tables(), before)
  await migratePostgres(url)
  await (await open()).close()
})

test('an upgrade makes users owners of the organizations with their servers', async (t) => {
  const url = await createDatabase(server)
  const database = openDatabase(url, ENDLESS)
  t.after(() => database.close())
  await migrate(database, MIGRATIONS.slice(0, 1))
  const [ada, bob, guild, clan] = Array.from({ length: 4 }, () => randomUUID())
  const members = await asAdmin(url, async (client) => {
    await client.query(`
      INSERT INTO users (id, email, name, created_at, updated_at) VALUES
        ('${ada}', 'ada@example.com', '', now(), now()), ('${bob}', 'bob@example.com', '', now(), now());
      INSERT INTO organizations VALUES ('${guild}', 'guild', ''), ('${clan}', 'clan', '');
      INSERT INTO servers (id, created_by, organization_id, name, host_label, updated_at)
      SELECT gen_random_uuid(), owner::uuid, organization::uuid, '', '', now() FROM (VALUES
        ('${ada}', '${guild}'), ('${ada}', '${guild}'), ('${ada}', '${clan}'), ('${ada}', NULL), ('${bob}', NULL)
      ) AS registered (owner, organization)`)
    await migrate(database)
    const { rows } = await client.query(
      'SELECT slug, user_id, role FROM members JOIN organizations ON id = organization_id ORDER BY slug',
    )
    return rows
  })
  assert.deepEqual(members, [
    { slug: 'clan', user_id: ada, role: 'owner' },
    { slug: 'guild', user_id: ada, role: 'owner' },
  ])
})

test('the epoch of the service has one row', async () => {
  const url = await createDatabase(server)
  await migratePostgres(url)
  const insert = (onlyRow: boolean) =>
    asAdmin(url, (client) => client.query(`INSERT INTO service_epoch VALUES (${onlyRow}, now())`))
  await assert.rejects(insert(false), /violates check constraint/)
  await assert.rejects(insert(true), /duplicate key/)
})

test('an upgrade takes the index on hashes that an operator made beforehand', async (t) => {
  const url = await createDatabase(server)
  const database = openDatabase(url, ENDLESS)
  t.after(database.close)
  await migrate(database, MIGRATIONS.slice(0, 9))
  await asAdmin(url, (client) =>
    client.query('CREATE INDEX CONCURRENTLY api_keys_by_hash ON api_keys USING hash (key_hash)'),
  )
  const index = () => database.query(`SELECT 'api_keys_by_hash'::regclass::oid`)
  const before = await index()
  await migrate(database)
  assert.deepEqual(await index(), before)
})
