import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { migratePostgres } from '../../../src/postgres/store.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openReader } from '../../postgres/triggers/listing-reader.ts'

/*
 * Servers that arrive by logical replication from another database.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ settings: { wal_level: 'logical' } })
})
after(() => cluster.remove())

const at = (database: string, sql: string) => asAdmin(database, (client) => client.query(sql))

test("each change that arrives by logical replication is in the owner's next answer", async (t) => {
  const [source, url] = [await createDatabase(cluster), await createDatabase(cluster)]
  await migratePostgres(source)
  const { names, userId } = await openReader(t, url, 'ada@example.com')
  const insert = (name: string, count = 1) => `
    INSERT INTO servers (id, created_by, name, host_label, updated_at)
    SELECT gen_random_uuid(), '${userId}', '${name}', n::text, '2000-01-01' FROM generate_series(1, ${count}) AS n
  `
  await at(
    source,
    `INSERT INTO users (id, email, created_at) VALUES ('${userId}', 'ada@example.com', now());
     ${insert('copied')};
     CREATE PUBLICATION listing FOR TABLE servers`,
  )
  // Both databases are in one cluster: a slot that the subscription creates would wait for its own
  // transaction.
  await at(source, `SELECT pg_create_logical_replication_slot('listing', 'pgoutput')`)
  await at(
    url,
    `CREATE SUBSCRIPTION listing CONNECTION '${source}' PUBLICATION listing
       WITH (create_slot = false, slot_name = 'listing')`,
  )
  // One name at a time, so that each answer is cached when the next change arrives.
  const arrive = async (...wanted: string[]) => {
    await eventually(async () => (await names()).join() === wanted.join())
    assert.deepEqual(await names(), wanted)
  }
  await arrive('copied')
  await at(source, `UPDATE servers SET name = 'changed'`)
  await arrive('changed')
  await at(source, `DELETE FROM servers; ${insert('inserted')}`)
  await arrive('inserted')
  await at(
    source,
    `UPDATE servers SET name = 'third' WHERE name = 'inserted'; ${insert('third', 2)}`,
  )
  await arrive('third', 'third', 'third')
  await at(source, 'TRUNCATE servers')
  await arrive()
  await at(url, 'DROP SUBSCRIPTION listing')
})
