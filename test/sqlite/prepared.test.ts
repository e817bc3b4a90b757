import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrateSqlite, openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { recordsOf } from '../fixtures/records.ts'

test('a command prepares each statement when it first runs it, and no others', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare')
  const prepared = () => prepare.mock.calls.map((call) => call.arguments[0])
  const store = await openSqliteStore(path, { create: false })
  t.after(() => store.close())
  // The check of the file, the ledger of migrations, and the union with the journal.
  for (const statement of prepared())
    assert.match(
      statement,
      /PRAGMA encoding|sqlite_schema|schema_migrations|schema_version|revoked_hashes/,
    )
  prepare.mock.resetCalls()
  for (const email of ['ada@example.com', 'bob@example.com']) await recordsOf(store).findUser(email)
  await recordsOf(store).listApiKeys('ada')
  assert.equal(prepared().length, 2)
})
