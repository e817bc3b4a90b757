import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabaseFile } from '../../../src/sqlite/file/create-file.ts'
import { takeServingLock } from '../../../src/sqlite/file/serving-lock.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite, openSqliteStore } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { once } from '../../fixtures/within.ts'

/*
 * Migrations beside other processes: one that serves the file, some that migrate it too, one that
 * is killed.
 */

test('a migration is refused while another process serves the file', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  const lock = await takeServingLock(path, 0)
  await assert.rejects(
    openSqliteStore(path, { create: true }),
    new RegExp(`older than this program, and .* is being served by process ${process.pid};`),
  )
  lock.release()
  const store = await openSqliteStore(path, { create: true })
  await store.close()
})

test('six processes that migrate one file in a missing folder at once all succeed', async (t) => {
  const path = join(temporaryFolder(t), 'a', 'new', 'folder', 'listing.db')
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, [join(ROOT, 'bin/server-listing.js'), 'migrate'], {
      env: { ...process.env, DATABASE_URL: `sqlite:${path}` },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0, 0, 0, 0, 0])
  assert.deepEqual(await migrateSqlite(path), [])
})

test('the next process completes the migration of a killed one', async (t) => {
  const folder = temporaryFolder(t)
  for (let round = 0; round < 8; round += 1) {
    const path = join(folder, `listing-${round}.db`)
    const script = `
      import { migrateSqlite } from ${JSON.stringify(join(ROOT, 'src/sqlite/store.ts'))}
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 0)
      process.send('ready')
      await migrateSqlite(${JSON.stringify(path)})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.once('message', () => setTimeout(() => child.kill('SIGKILL'), round / 2))
    await once(child, 'exit')
    await migrateSqlite(path)
    assert.deepEqual(await migrateSqlite(path), [])
    const store = await openServingSqliteStore(path)
    await store.close()
  }
})
