import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextImmediate, setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { openDatabase } from '../../src/sqlite/database.ts'
import { isLocked } from '../../src/sqlite/errors.ts'
import { managementConnection, Overdue } from '../../src/sqlite/management-connection.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

function open(t: TestContext): { connection: DatabaseSync; database: Database } {
  const path = join(temporaryFolder(t), 'listing.db')
  const connection = openDatabase(path, { synchronous: 'FULL', lockWaitMs: 0 })
  t.after(() => connection.close())
  migrate(connection)
  connection.exec('CREATE TABLE notes (note TEXT UNIQUE)')
  return { connection, database: lend(connection) }
}

const lend = (connection: DatabaseSync) => managementConnection(connection, { lockWaitMs: 1_000 })
const insert = (note: string) => sql`INSERT INTO notes VALUES (${note})`
const countNotes = (database: Database) =>
  database.get<{ count: number }>(sql`SELECT count(*) AS count FROM notes`)

const WAITS: [what: string, wait: () => Promise<unknown>][] = [
  ['the next tick', () => new Promise((resolve) => process.nextTick(resolve))],
  ['an immediate', () => nextImmediate()],
  ['a timer', () => delay(1)],
]

for (const [what, wait] of WAITS)
  test(`a transaction that awaits ${what} is rejected and leaves nothing`, async (t) => {
    const { connection, database } = open(t)
    const after = Promise.withResolvers()
    const afterwards = assert.rejects(after.promise, Overdue)
    const transaction = database.transact(async (tx) => {
      await tx.run(insert('before'))
      await wait()
      await tx.run(insert('after')).then(after.resolve, after.reject)
    })
    // In the queue behind it, so it is not part of the transaction.
    const behind = database.run(insert('behind'))
    await assert.rejects(transaction, Overdue)
    assert.equal(await behind, 1)
    await afterwards
    assert.deepEqual(await database.all(sql`SELECT note FROM notes`), [{ note: 'behind' }])
    assert.equal(connection.isTransaction, false)
  })

test('a transaction that waits for its own queue is rejected, and the queue continues', async (t) => {
  const { database } = open(t)
  const transaction = database.transact(async (tx) => {
    await tx.run(insert('inside'))
    return database.run(insert('outside'))
  })
  await assert.rejects(transaction, Overdue)
  assert.deepEqual(await database.all(sql`SELECT note FROM notes`), [{ note: 'outside' }])
})

test('a transaction of many queries that awaits nothing else commits', async (t) => {
  const { database } = open(t)
  await delay(1)
  await database.transact(async (tx) => {
    await tx.lock('users', ['ada'])
    for (let index = 0; index < 500; index += 1) await tx.run(insert(`note ${index}`))
    await Promise.all([tx.run(insert('one')), tx.run(insert('two')), tx.get(sql`SELECT 1`)])
  })
  assert.deepEqual(await countNotes(database), { count: 502 })
})

test('concurrent transactions and statements run one after the other', async (t) => {
  const { database } = open(t)
  const addOneOfTwenty = (name: string) =>
    database.transact(async (tx) => {
      const found = await tx.get<{ count: number }>(sql`SELECT count(*) AS count FROM notes`)
      if (found!.count >= 20) return false
      await tx.run(insert(name))
      return true
    })
  const results = await Promise.all(
    Array.from({ length: 100 }, async (_, index) =>
      index % 10 === 9 ? countNotes(database) : addOneOfTwenty(`note ${index}`),
    ),
  )
  assert.equal(results.filter((result) => result === true).length, 20)
  assert.deepEqual(await countNotes(database), { count: 20 })
})

test('a failed query rolls its transaction back and does not disturb the next one', async (t) => {
  const { database } = open(t)
  const failing = database.transact(async (tx) => {
    await tx.run(insert('one'))
    await tx.run(insert('one'))
  })
  const next = database.transact((tx) => tx.run(insert('two')))
  await assert.rejects(failing, (error) => database.dialect.isTaken(error))
  assert.equal(await next, 1)
  assert.deepEqual(await database.all(sql`SELECT note FROM notes`), [{ note: 'two' }])
})

test('while another process writes, reads continue and a change waits, then fails', async (t) => {
  const { connection, database } = open(t)
  const other = new DatabaseSync(connection.location()!)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const waiting = database.run(insert('one'))
  assert.deepEqual(await countNotes(database), { count: 0 })
  other.exec('ROLLBACK')
  assert.equal(await waiting, 1)
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(
    database.transact((tx) => tx.run(insert('two'))),
    isLocked,
  )
  other.exec('ROLLBACK')
  assert.deepEqual(await countNotes(database), { count: 1 })
})

test('a transaction that has only read already keeps other processes from writing', async (t) => {
  const { connection, database } = open(t)
  const other = new DatabaseSync(connection.location()!)
  t.after(() => other.close())
  await database.transact(async (tx) => {
    await tx.get(sql`SELECT 1 FROM notes`)
    assert.throws(() => other.exec('BEGIN IMMEDIATE'), isLocked)
  })
})

test('transactions of two connections in one process do not block each other', async (t) => {
  const { connection, database } = open(t)
  const other = openDatabase(connection.location()!, { synchronous: 'FULL', lockWaitMs: 0 })
  t.after(() => other.close())
  const second = lend(other)
  const add = (index: number) =>
    (index % 2 === 0 ? database : second).transact((tx) => tx.run(insert(`note ${index}`)))
  await Promise.all(Array.from({ length: 20 }, (_, index) => add(index)))
  assert.deepEqual(await countNotes(database), { count: 20 })
})

test('opening prepares no statement, and each is prepared once', async (t) => {
  const { connection, database } = open(t)
  const prepare = t.mock.method(connection, 'prepare')
  lend(connection)
  assert.equal(prepare.mock.callCount(), 0)
  for (let index = 0; index < 3; index += 1) await database.run(insert(`note ${index}`))
  assert.equal(prepare.mock.callCount(), 1)
})

test('a connection keeps a bounded number of prepared statements', async (t) => {
  const { connection, database } = open(t)
  const prepare = t.mock.method(connection, 'prepare')
  const statements = Array.from({ length: 201 }, (_, index) => sql([`SELECT ${index} AS value`]))
  for (const statement of [...statements, statements[200]!]) await database.get(statement)
  assert.equal(prepare.mock.callCount(), 201)
  assert.deepEqual(await database.get(statements[0]!), { value: 0 })
  assert.equal(prepare.mock.callCount(), 202)
})
