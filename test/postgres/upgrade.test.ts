import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { ENDLESS } from '../../src/postgres/patience.ts'
import { usageCounts } from '../../src/keys/records/usage-counts.ts'
import { createUsageCounter } from '../../src/keys/usage/usage-counter.ts'
import {
  migratePostgres,
  openPostgresStore,
  openServingPostgresStore,
} from '../../src/postgres/store.ts'
import { migrateFurther } from '../fixtures/later.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { addUser } from '../fixtures/service.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a command leaves an empty database alone, and names migrate', async (t) => {
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
  await migratePostgres(url)
  await (await open()).close()
})

test('the tables of a version before the first release are refused, and nothing changes', async (t) => {
  const url = await createDatabase(server)
  const database = openDatabase(url, ENDLESS)
  t.after(database.close)
  await migrate(database, [
    { number: 1, name: '0001-init.sql', sql: 'CREATE TABLE users (name text)', programMin: 1 },
    { number: 2, name: '0002-ada.sql', sql: `INSERT INTO users VALUES ('Ada')`, programMin: 1 },
  ])
  const content = () => database.query('SELECT relname, relfilenode FROM pg_class ORDER BY relname')
  const before = await content()
  for (const open of [
    () => migratePostgres(url),
    () => openPostgresStore(url, { create: true }),
    () => openPostgresStore(url, { create: false }),
  ])
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof NotConfigured)
      assert.match(error.message, /tables of a version before 0\.1\.0.*`server-listing apply`/)
      return true
    })
  assert.deepEqual(await content(), before)
  assert.deepEqual(await database.query('SELECT name FROM users'), [{ name: 'Ada' }])
  assert.deepEqual(await database.query('SELECT max(number) FROM schema_migrations'), [{ max: 2 }])
})

test('a service does nothing in a schema of a newer program, until it can work with it', async (t) => {
  const url = await createMigratedDatabase(server)
  await migrateFurther({ engine: 'postgres', url }, 'SELECT 1', 'breaking')
  const faults: unknown[] = []
  const store = await openServingPostgresStore(url, { onFault: (fault) => faults.push(fault) })
  t.after(store.close)
  const counter = createUsageCounter(usageCounts(store.counting), (fault) => faults.push(fault))
  await counter.write()
  const add = () => addUser(store, 'ada@example.com')
  await add().catch((fault) => faults.push(fault))
  // Of the start, of the counter and of the page.
  assert.equal(faults.length, 3)
  for (const fault of faults) {
    assert.ok(fault instanceof NotConfigured)
    assert.match(fault.message, /needs a newer server-listing/)
  }
  await asAdmin(url, (client) => client.query('UPDATE schema_migrations SET program_min = 1'))
  await add()
})

test('the epoch of the service has one row', async () => {
  const url = await createDatabase(server)
  await migratePostgres(url)
  const insert = (onlyRow: boolean) =>
    asAdmin(url, (client) => client.query(`INSERT INTO service_epoch VALUES (${onlyRow}, now())`))
  await assert.rejects(insert(false), /violates check constraint/)
  await assert.rejects(insert(true), /duplicate key/)
})
