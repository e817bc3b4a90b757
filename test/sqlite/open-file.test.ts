import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openDatabase, openFile } from '../../src/sqlite/database.ts'
import { createDatabaseFile } from '../../src/sqlite/file/create-file.ts'
import { isLocked } from '../../src/sqlite/errors.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

test('a missing file is created only if asked, and an empty one stays empty', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  assert.throws(() => openFile(path, false), /NotConfigured: there is no database file .*migrate/)
  assert.throws(() => openFile(folder, true), /NotConfigured: .* it is a folder or not a regular/)
  assert.deepEqual(readdirSync(folder), [])
  writeFileSync(path, '')
  openFile(path, false).close()
  assert.deepEqual([readdirSync(folder), statSync(path).size], [['listing.db'], 0])
  const [database, again] = [openFile(path, true), openFile(path, false)]
  assert.equal(again.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal')
  for (const one of [database, again]) one.close()
})

test('opening a new file that stays locked fails after its wait', (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const since = performance.now()
  const open = () => openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 50 })
  assert.throws(open, isLocked)
  assert.ok(performance.now() - since >= 50)
  other.exec('ROLLBACK')
  open().close()
})
