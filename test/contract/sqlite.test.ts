import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { openServingSqliteStore, openSqliteStore } from '../../src/sqlite/store.ts'
import { manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import type { StoreFixture } from './fixture.ts'
import { storeContract } from './store-contract.ts'

storeContract('SQLite', openFixture)

async function openFixture(t: TestContext): Promise<StoreFixture> {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const store = await openServingSqliteStore(path, clock)
  const other = new DatabaseSync(path, { timeout: 1_000 })
  t.after(async () => {
    other.close()
    await store.close()
  })

  return {
    store,
    openSecond: () => openSqliteStore(path, { create: false }),
    elapse: async (milliseconds) => clock.elapse(milliseconds),
    breakServers: () => rename('servers'),
    breakApiKeys: () => rename('api_keys'),

    async insertServerRow({
      id,
      created_by,
      name,
      host_label,
      updated_at,
      status = 'published',
      edition = 'java',
    }) {
      other
        .prepare(
          `INSERT INTO servers (id, created_by, name, host_label, edition, status, updated_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, created_by, name, host_label, edition, status, updated_at)
    },
  }

  async function rename(table: string): Promise<() => Promise<void>> {
    // Views keep naming the table as it was called, so that it is missed.
    other.exec(`PRAGMA legacy_alter_table = ON; ALTER TABLE ${table} RENAME TO elsewhere`)
    return async () => other.exec(`ALTER TABLE elsewhere RENAME TO ${table}`)
  }
}
