import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite, openSqliteStore } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { hold, load } from './holder.ts'
import { once } from '../../fixtures/within.ts'

const ASK = `
  import { isServed } from ${JSON.stringify(join(ROOT, 'src/sqlite/file/serving-lock.ts'))}
  process.send('asking')
  setInterval(() => isServed(process.argv[1]), 10)`

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

test('a service starts beside a command that looks at the lock again and again', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const asker = spawn(process.execPath, ['--input-type=module', '-e', ASK, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => asker.kill('SIGKILL'))
  await once(asker, 'message')
  for (let round = 0; round < 10; round += 1) {
    const store = await openServingSqliteStore(path)
    await store.close()
  }
})
