import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFile } from '../../src/sqlite/database.ts'
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
