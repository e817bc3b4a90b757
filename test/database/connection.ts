import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { INSTANT_MAX } from '../../src/model/instant.ts'
import type { Database, Transaction } from '../../src/database/database.ts'
import { at, inBytes, inStrings, inUuids, type Sql, sql, uuid } from '../../src/database/sql.ts'

/** A database with our schema and without rows. */
export type OpenDatabase = (t: TestContext) => Promise<Database>

interface Entry {
  id: string
  instant?: number
  action?: string
}

const insert = ({ id, instant = 0, action = '' }: Entry): Sql => sql`
  INSERT INTO audit_log (id, occurred_at, user_id, action, subject, address)
  VALUES (${uuid(id)}, ${at(instant)}, ${null}, ${action}, '', '')`

const addUser = (name: string): Sql => sql`
  INSERT INTO users (id, email, created_at) VALUES (${randomUUID()}, ${name}, ${at(0)})`

const idsWhere = async (database: Database, condition: Sql) => {
  const rows = await database.all<{ id: string }>(
    sql`SELECT id FROM audit_log WHERE ${condition} ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}

/** What `management/` relies on: the connection that each engine lends. */
export function connectionContract(open: OpenDatabase): void {
  valuesContract(open)
  transactionsContract(open)
}

function valuesContract(open: OpenDatabase): void {
  test('an instant is read as it was written, and compared as a number', async (t) => {
    const database = await open(t)
    const instants = [-INSTANT_MAX, -1_500_001, -1, 0, 1, 1_800_000_000_123_457, INSTANT_MAX]
    for (const instant of instants) await database.run(insert({ id: randomUUID(), instant }))
    const { instant } = database.dialect
    for (const [index, first] of instants.entries()) {
      const rows = await database.all(sql`
        SELECT ${instant('occurred_at')} FROM audit_log WHERE occurred_at >= ${at(first)}
        ORDER BY audit_log.occurred_at`)
      assert.deepEqual(
        rows,
        instants.slice(index).map((occurred_at) => ({ occurred_at })),
      )
    }
  })

  test('an instant that is absent is read as null', async (t) => {
    const database = await open(t)
    const { instant } = database.dialect
    assert.deepEqual(
      await database.get(sql`
        SELECT ${instant('entry.occurred_at')} FROM (SELECT 1 AS one) AS base
        LEFT JOIN audit_log AS entry ON one = 2`),
      { occurred_at: null },
    )
  })

  test('only the id itself equals an id; other text is the id of no row and no error', async (t) => {
    const database = await open(t)
    const [first, second] = [randomUUID(), randomUUID()].toSorted() as [string, string]
    for (const id of [first, second]) await database.run(insert({ id }))
    assert.deepEqual(await idsWhere(database, sql`id = ${uuid(first)}`), [first])
    for (const other of ['', 'id', `${first} `, `{${first}}`, first.toUpperCase(), randomUUID()])
      assert.deepEqual(await idsWhere(database, sql`id = ${uuid(other)}`), [], other)
    const many = inUuids([second, 'id', randomUUID(), first, first])
    assert.deepEqual(await idsWhere(database, sql`id ${many}`), [first, second])
    assert.deepEqual(await idsWhere(database, sql`id ${inUuids([])}`), [])
  })

  test('any text and any bytes are values, alone and in a list', async (t) => {
    const database = await open(t)
    const texts = [
      '',
      `it's`,
      '"a", {b}',
      'back\\slash',
      '$1 ? NULL',
      '生存 🏰',
      `'; DROP TABLE users`,
    ]
    for (const action of texts) {
      const id = randomUUID()
      await database.run(insert({ id, action }))
      assert.deepEqual(await idsWhere(database, sql`action = ${action}`), [id])
      const listed = inStrings(['another', action])
      assert.deepEqual(await idsWhere(database, sql`action ${listed}`), [id])
    }
    assert.equal((await idsWhere(database, sql`action ${inStrings(texts)}`)).length, texts.length)
    assert.deepEqual(await idsWhere(database, sql`action ${inStrings([])}`), [])
    const hashes = [new Uint8Array(0), new Uint8Array([0]), randomBytes(32)]
    const isListed = async (hash: Uint8Array) =>
      (await database.get(sql`SELECT 1 AS one WHERE ${hash} ${inBytes(hashes)}`)) !== null
    for (const hash of hashes) assert.equal(await isListed(hash), true)
    assert.equal(await isListed(randomBytes(32)), false)
  })

  test('a query returns its rows, its first row or null, and a statement the number of its rows', async (t) => {
    const database = await open(t)
    const count = sql`SELECT count(*) AS count FROM audit_log`
    assert.deepEqual(await database.all(count), [{ count: 0 }])
    assert.equal(await database.get(sql`SELECT id FROM audit_log`), null)
    for (let index = 0; index < 3; index += 1)
      assert.equal(await database.run(insert({ id: randomUUID() })), 1)
    assert.deepEqual(await database.get(count), { count: 3 })
    assert.equal(await database.run(sql`UPDATE audit_log SET action = ${'a'}`), 3)
    assert.equal(await database.run(sql`DELETE FROM audit_log WHERE action = ${'b'}`), 0)
  })

  test('the dialect recognizes a unique violation and no other error', async (t) => {
    const database = await open(t)
    await database.run(addUser('ada'))
    const isTaken = (error: unknown) => database.dialect.isTaken(error)
    await assert.rejects(database.run(addUser('ada')), isTaken)
    const others = [
      sql`SELECT nothing`,
      sql`INSERT INTO members (organization_id, user_id) VALUES (${randomUUID()}, ${randomUUID()})`,
    ]
    for (const other of others)
      await assert.rejects(database.run(other), (error) => !isTaken(error))
  })
}

async function add(transaction: Transaction, id: string) {
  await transaction.run(insert({ id }))
  return transaction.get(sql`SELECT id FROM audit_log WHERE id = ${uuid(id)}`)
}

function transactionsContract(open: OpenDatabase): void {
  test('a transaction sees its own changes, and one that fails leaves none of them', async (t) => {
    const database = await open(t)
    const [kept, undone] = [randomUUID(), randomUUID()]
    assert.deepEqual(await database.transact((transaction) => add(transaction, kept)), { id: kept })
    const failing = database.transact(async (transaction) => {
      assert.deepEqual(await add(transaction, undone), { id: undone })
      throw new Error('on purpose')
    })
    await assert.rejects(failing, /on purpose/)
    assert.deepEqual(await idsWhere(database, sql`1 = 1`), [kept])
  })

  test('of transactions that lock the same names in any order one runs at a time', async (t) => {
    const database = await open(t)
    await assertOneAtATime(database, (transaction, isEven) =>
      transaction.lockNames(isEven ? ['a', 'b'] : ['b', 'a']),
    )
  })

  test('of transactions that lock the same rows in any order one runs at a time', async (t) => {
    const database = await open(t)
    const ids = [randomUUID(), randomUUID()]
    for (const id of ids)
      await database.run(
        sql`INSERT INTO organizations (id, slug, name) VALUES (${uuid(id)}, ${id}, '')`,
      )
    await assertOneAtATime(database, (transaction, isEven) =>
      transaction.lock('organizations', isEven ? ids : ids.toReversed()),
    )
    await database.transact((transaction) => transaction.lock('users', ['no-uuid', randomUUID()]))
  })
}

/** Adds a row in twenty transactions at once, each unless it finds one. */
async function assertOneAtATime(
  database: Database,
  lock: (transaction: Transaction, isEven: boolean) => Promise<void>,
): Promise<void> {
  const add = (_: unknown, index: number) =>
    database.transact(async (transaction) => {
      await lock(transaction, index % 2 === 0)
      if ((await transaction.get(sql`SELECT id FROM audit_log`)) !== null) return 0
      return transaction.run(insert({ id: randomUUID() }))
    })
  const added = await Promise.all(Array.from({ length: 20 }, add))
  assert.equal(added.filter((count) => count === 1).length, 1)
}
