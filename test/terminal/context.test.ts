import assert from 'node:assert/strict'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { withStore } from '../../src/terminal/context.ts'
import type { Store } from '../../src/database/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { recordsOf } from '../fixtures/records.ts'

test('the store is closed after each command, even a failed one', async (t) => {
  const shell = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: { DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'listing.db')}` },
  }
  const opened: Store[] = []
  const done = await withStore(
    shell,
    async (store) => {
      opened.push(store)
      return (await recordsOf(store).listUserRecords()).length
    },
    { create: true },
  )
  assert.equal(done, 0)
  const failing = withStore(shell, async (store) => {
    opened.push(store)
    throw new Error('no such key')
  })
  await assert.rejects(failing, /no such key/)
  assert.equal(opened.length, 2)
  for (const store of opened)
    await assert.rejects(recordsOf(store).listUserRecords(), /database is not open/)
})
