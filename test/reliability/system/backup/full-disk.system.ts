import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backUpSqlite } from '../../../../src/archive/sqlite-backup.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { filledFile, restoreFile, rowsOf } from '../../../archive/files.ts'

/** A new database has about 260 kB. There is room for it, and for no copy. */
const SIZE = '400k'

test('on a full disk there is no new archive, and a restore changes nothing', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  await filledFile(path, 1)
  const small = join(folder, 'small')
  mkdirSync(small)
  const mount = (options: string) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', small])
  mount(`size=${SIZE}`)
  try {
    const target = join(small, 'backup')
    await backUpSqlite(path, target)
    const before = rowsOf(target)
    await assert.rejects(backUpSqlite(path, join(small, 'second')), {
      name: 'NotBackedUp',
      message: /cannot back up to .*second: the disk is full; there is no new backup/,
    })
    await assert.rejects(backUpSqlite(path, target), { name: 'NotBackedUp' })
    assert.deepEqual(rowsOf(target), before)
    assert.deepEqual(readdirSync(small), ['backup'])

    // An archive on a medium that is read-only.
    mount(`remount,ro`)
    await restoreFile(join(folder, 'new.db'), target)
    assert.deepEqual(rowsOf(join(folder, 'new.db')).users, before.users)
    mount(`remount,rw`)

    // The same file as a database.
    await assert.rejects(restoreFile(target, path), {
      name: 'NotRestored',
      message: /cannot restore into .*backup: it needs 1 MB in .*small, .* and 1 MB are free/,
    })
    assert.deepEqual(rowsOf(target), before)
    const left = readdirSync(small).filter((name) => !/^backup(-serving|-wal|-shm)?$/.test(name))
    assert.deepEqual(left, [])
  } finally {
    execFileSync('umount', [small])
  }
})
