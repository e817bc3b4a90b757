import assert from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { isServed, takeServingLock } from '../../../src/sqlite/file/serving-lock.ts'
import { migrateSqlite, openSqliteStore } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { hold, load } from './holder.ts'
import { once } from '../../fixtures/within.ts'

test('a command knows whether a process serves the file, also by another name', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const link = join(folder, 'link.db')
  await migrateSqlite(path)
  const command = await openSqliteStore(path, { create: false })
  symlinkSync(path, link)
  const linked = await openSqliteStore(link, { create: false })
  const seen = () => [command.isServed(), linked.isServed()]
  assert.deepEqual(seen(), [false, false])
  for (let round = 0; round < 3; round += 1) {
    const child = await load(path)
    assert.equal(await hold(child), 'serving')
    assert.deepEqual(seen(), [true, true])
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.deepEqual(seen(), [false, false])
  }
  rmSync(path)
  assert.deepEqual(seen(), [true, true], 'a process may still serve the removed file')
  for (const store of [command, linked]) await store.close()
})

test('a service that begins while a command looks at the lock takes it afterwards', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const { release } = await takeServingLock(path, 0)
  release()
  const looking = new DatabaseSync(`${path}-serving`)
  looking.exec('BEGIN IMMEDIATE')
  // The first attempt fails before the call returns.
  const taking = takeServingLock(path, 10_000)
  looking.close()
  const lock = await taking
  assert.ok(isServed(path))
  lock.release()
  // A look keeps nothing.
  assert.ok(!isServed(path))
  const again = await takeServingLock(path, 0)
  again.release()
})
