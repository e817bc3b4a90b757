import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backUpSqlite } from '../../../../src/sqlite/backup/backup.ts'
import { prepareRestore } from '../../../../src/sqlite/backup/restore.ts'
import { openServingSqliteStore } from '../../../../src/sqlite/serving-store.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { addOwner } from '../../../fixtures/service.ts'
import { rowsOf } from '../../../sqlite/backup/files.ts'

/** A new database has about 240 kB. There is room for it and its manifest, and for no copy. */
const SIZE = '400k'

test('on a full disk there is no new backup, and a restore changes nothing', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const store = await openServingSqliteStore(path)
  await addOwner(store, 'ada@example.com')
  await store.close()
  const small = join(folder, 'small')
  mkdirSync(small)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', small])
  try {
    const target = join(small, 'backup')
    await backUpSqlite(path, target, '1')
    const before = rowsOf(target)
    await assert.rejects(backUpSqlite(path, join(small, 'second'), '1'), {
      name: 'NotBackedUp',
      message: /cannot back up to .*second: the disk is full; there is no new backup/,
    })
    await assert.rejects(backUpSqlite(path, target, '1'), { name: 'NotBackedUp' })
    assert.deepEqual(rowsOf(target), before)
    assert.deepEqual(readdirSync(small).toSorted(), ['backup', 'backup.json'])

    // The same file as a database.
    await assert.rejects(prepareRestore(target, path, []), { name: 'NotRestored' })
    assert.deepEqual(rowsOf(target), before)
    const left = readdirSync(small).filter((name) => !/^backup(\.json|-serving)?$/.test(name))
    assert.deepEqual(left, [])
  } finally {
    execFileSync('umount', [small])
  }
})
