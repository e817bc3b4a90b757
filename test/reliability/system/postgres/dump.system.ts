import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { migratePostgres } from '../../../../src/postgres/store.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../../fixtures/postgres/database.ts'
import { openReader } from '../../../postgres/triggers/listing-reader.ts'

/*
 * Dumps that are restored into another cluster or into a database in use.
 */

const run = promisify(execFile)
const programs = process.env.POSTGRES_BIN ?? ''

let source: Cluster
let target: Cluster
before(async () => {
  assert.ok(programs !== '', 'POSTGRES_BIN must name the folder of pg_dump and psql')
  source = await startCluster()
  target = await startCluster()
})
after(async () => {
  await target.remove()
  await source.remove()
})

const at = (url: string, sql: string) => asAdmin(url, (client) => client.query(sql))

async function dumpInto(file: string, from: string, to: string, args: string[]): Promise<void> {
  await run(join(programs, 'pg_dump'), [...args, '--file', file, from])
  await run(join(programs, 'psql'), ['--set', 'ON_ERROR_STOP=1', '--quiet', '--file', file, to])
}

test('servers loaded as data only into a migrated database are in the next answer', async (t) => {
  const [from, to] = [await createDatabase(source), await createDatabase(target)]
  await migratePostgres(from)
  const { names, userId } = await openReader(t, to, 'ada@example.com')
  assert.deepEqual(await names(), [])
  await at(
    from,
    `INSERT INTO users (id, email, created_at) VALUES ('${userId}', 'ada@example.com', now());
     INSERT INTO servers (id, created_by, name, host_label, updated_at)
       VALUES (gen_random_uuid(), '${userId}', 'loaded', 'a.example.com', now())`,
  )
  const left = ['schema_migrations', 'service_epoch', 'listing_revisions', 'name_locks', 'users']
  const file = join(temporaryFolder(t), 'data.sql')
  const args = ['--data-only', ...left.map((table) => `--exclude-table=${table}`)]
  await dumpInto(file, from, to, args)
  assert.deepEqual(await names(), ['loaded'])
})

const change = (name: string) =>
  `WITH changed AS (UPDATE servers SET name = '${name}' RETURNING id)
   SELECT pg_current_xact_id()::text::int AS number FROM changed`

test('a change of a restored listing is seen although its transaction number recurs', async (t) => {
  const [from, to] = [await createDatabase(source), await createDatabase(target)]
  const before = await openReader(t, from, 'ada@example.com', ['one'])
  assert.deepEqual(await before.names(), ['one'])
  // Raises the source's transaction numbers above those of the target.
  await at(
    source.url(),
    'DO $$ BEGIN FOR n IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$',
  )
  const { number } = (await at(from, change('restored'))).rows[0]
  await dumpInto(join(temporaryFolder(t), 'all.sql'), from, to, [])

  const { names } = await before.openOn(t, to)
  assert.deepEqual(await names(), ['restored'])
  await asAdmin(to, async (client) => {
    for (;;) {
      const { rows } = await client.query('SELECT pg_current_xact_id()::text::int AS last')
      assert.ok(rows[0].last < number, 'the target has already passed the transaction number')
      if (rows[0].last === number - 1) break
    }
    const { rows } = await client.query(change('changed'))
    assert.equal(rows[0].number, number)
  })
  assert.deepEqual(await names(), ['changed'])
})
