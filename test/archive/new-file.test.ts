import assert from 'node:assert/strict'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openArchive } from '../../src/archive/open.ts'
import { prepareSqliteRestore } from '../../src/archive/sqlite-restore.ts'
import { takeServingLock } from '../../src/sqlite/file/serving-lock.ts'
import { change, filledFile, files, rowsOf } from './files.ts'

/*
 * A refused restore removes the file that it has created, and no file of another process.
 */

test('a file that another process makes while the archive is judged stays', async (t) => {
  const { folder, path, target } = files(t)
  await filledFile(target, 1)
  change(target, `UPDATE servers SET name = CAST(X'E9' AS TEXT)`)
  const other = join(folder, 'other.db')
  await filledFile(other, 2)
  const opened = await openArchive(target)
  const archive = {
    ...opened,
    // The message names it.
    get path() {
      copyFileSync(other, path)
      return target
    },
  }
  await assert.rejects(
    prepareSqliteRestore(path, archive, assert.ifError),
    /some of its rows break rules/,
  )
  assert.deepEqual(rowsOf(path), rowsOf(other))
})

test('a file that another process serves meanwhile stays', async (t) => {
  const { folder, path, target } = files(t)
  await filledFile(target, 1)
  const other = join(folder, 'other.db')
  await filledFile(other, 2)
  copyFileSync(other, path)
  const lock = await takeServingLock(path, 0)
  rmSync(path)
  const refused = prepareSqliteRestore(path, await openArchive(target), assert.ifError)
  copyFileSync(other, path)
  await assert.rejects(refused, { name: 'AlreadyServed' })
  lock.release()
  assert.deepEqual(rowsOf(path), rowsOf(other))
})

test('a refused restore leaves no file that it has created', async (t) => {
  const { path, target } = files(t)
  await filledFile(target, 1)
  const prepared = await prepareSqliteRestore(path, await openArchive(target), assert.ifError)
  assert.equal(existsSync(path), true)
  await prepared.close()
  for (const end of ['', '-wal', '-shm']) assert.equal(existsSync(`${path}${end}`), false)
})
