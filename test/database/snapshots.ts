import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Database, Queries } from '../../src/database/database.ts'
import { sql, uuid } from '../../src/database/sql.ts'

/** Two connections to one database with our schema and without rows. */
export type OpenTwo = (t: TestContext) => Promise<[Database, Database]>

const insert = (queries: Queries) =>
  queries.run(sql`INSERT INTO organizations (id, slug, name)
    VALUES (${uuid(randomUUID())}, ${randomUUID()}, '')`)

const count = async (queries: Queries) =>
  (await queries.get<{ count: number }>(sql`SELECT count(*) AS count FROM organizations`))!.count

export function snapshotsContract(open: OpenTwo): void {
  test('a snapshot reads one moment, while another connection writes without waiting', async (t) => {
    const [one, other] = await open(t)
    await insert(one)
    const counts = await one.snapshot(async (queries) => {
      const before = await count(queries)
      await insert(other)
      return [before, await count(queries)]
    })
    assert.deepEqual(counts, [1, 1])
    assert.equal(await count(one), 2)
  })

  test('a snapshot that fails leaves the connection as it was', async (t) => {
    const [one] = await open(t)
    const failed = one.snapshot(async (queries) => {
      await count(queries)
      throw new Error('on purpose')
    })
    await assert.rejects(failed, /on purpose/)
    await insert(one)
    assert.equal(await count(one), 1)
  })

  test('rows in parts are of one moment, and the connection does other work between two parts', async (t) => {
    const [one] = await open(t)
    for (let row = 0; row < 5; row += 1) await insert(one)
    const lengths: number[] = []
    const written: Promise<unknown>[] = []
    await one.readParts(sql`SELECT id FROM organizations`, 2, (rows) => {
      lengths.push(rows.length)
      written.push(insert(one))
    })
    assert.deepEqual(lengths, [2, 2, 1])
    await Promise.all(written)
    assert.equal(await count(one), 8)
    await one.readParts(sql`SELECT id FROM organizations WHERE false`, 2, () => assert.fail())
  })

  test('parts whose reader fails leave the connection as it was', async (t) => {
    const [one] = await open(t)
    await insert(one)
    const failed = one.readParts(sql`SELECT id FROM organizations`, 1, () => {
      throw new Error('on purpose')
    })
    await assert.rejects(failed, /on purpose/)
    await insert(one)
    assert.equal(await count(one), 2)
  })
}
