import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { makePasswordsCheap } from '../fixtures/passwords/cheap-passwords.ts'
import { manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import type { StoreFixture } from './fixture.ts'
import { storeContract } from './store-contract.ts'

makePasswordsCheap()
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
    async openSecond() {
      const second = await openSqliteStore(path, { create: false })
      t.after(() => second.close())
      return second
    },
    elapse: async (milliseconds) => clock.elapse(milliseconds),
    breakServers: () => rename('servers'),
    breakApiKeys: () => rename('api_keys'),
    execute: async (sql) => other.exec(sql),
    read: async (sql) =>
      other
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })),
    literal: { bytes: (hex) => `X'${hex}'`, instant: String },

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
    // Views keep the table's old name, so that reading them fails.
    other.exec(`PRAGMA legacy_alter_table = ON; ALTER TABLE ${table} RENAME TO elsewhere`)
    return async () => other.exec(`ALTER TABLE elsewhere RENAME TO ${table}`)
  }
}
