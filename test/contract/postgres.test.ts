import { after, before, type TestContext } from 'node:test'
import pg from 'pg'
import { openPostgresStore, openServingPostgresStore } from '../../src/postgres/store.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { createDatabase } from '../fixtures/postgres-database.ts'
import type { StoreFixture } from './fixture.ts'
import { storeContract } from './store-contract.ts'

let cluster: Cluster

before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

storeContract('PostgreSQL', openFixture)

async function openFixture(t: TestContext): Promise<StoreFixture> {
  const url = await createDatabase(cluster)
  const store = await openServingPostgresStore(url)
  const other = new pg.Client(url)
  await other.connect()
  t.after(async () => {
    await other.end()
    await store.close()
  })

  return {
    store,
    openSecond: () => openPostgresStore(url),
    breakServers: () => rename('servers'),
    breakApiKeys: () => rename('api_keys'),

    /** The database's clock cannot be moved; its stamps can. */
    async elapse(milliseconds) {
      await other.query(
        `UPDATE api_keys SET last_used_at = last_used_at - $1 * interval '1 millisecond'`,
        [milliseconds],
      )
    },

    async insertServerRow({
      id,
      created_by,
      name,
      host_label,
      updated_at,
      status = 'published',
      edition = 'java',
    }) {
      await other.query(
        `INSERT INTO servers (id, created_by, name, host_label, edition, status, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, timestamptz 'epoch' + $7::bigint * interval '1 microsecond')`,
        [id, created_by, name, host_label, edition, status, updated_at],
      )
    },
  }

  async function rename(table: string): Promise<() => Promise<void>> {
    await other.query(`ALTER TABLE ${table} RENAME TO elsewhere`)
    return async () => {
      await other.query(`ALTER TABLE elsewhere RENAME TO ${table}`)
    }
  }
}
