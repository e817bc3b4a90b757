import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { once } from '../../fixtures/within.ts'

const CONNECTIONS = 6
const FILES = 50

/** Opens one new file after the other, each at the same moment as the other threads. */
const OPEN = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { folder, arrived } = workerData
  const refusals = []
  Promise.all([
    import(${JSON.stringify(join(ROOT, 'src/sqlite/database.ts'))}),
    import(${JSON.stringify(join(ROOT, 'src/sqlite/file/create-file.ts'))}),
  ]).then(([{ openDatabase }, { createDatabaseFile }]) => {
    for (let file = 0; file < ${FILES}; file += 1) {
      const path = folder + '/' + file + '.db'
      Atomics.add(arrived, 0, 1)
      while (Atomics.load(arrived, 0) < (file + 1) * ${CONNECTIONS}) {}
      createDatabaseFile(path)
      try {
        openDatabase(path, { synchronous: 'FULL', lockWaitMs: 5_000 }).close()
      } catch (error) {
        refusals.push(error.message)
      }
    }
    parentPort.postMessage(refusals)
  })`

test('connections that open a new file at the same moment all succeed', async (t) => {
  const folder = temporaryFolder(t)
  const arrived = new Int32Array(new SharedArrayBuffer(4))
  const threads = Array.from(
    { length: CONNECTIONS },
    () => new Worker(OPEN, { eval: true, workerData: { folder, arrived } }),
  )
  const refusals = await Promise.all(
    threads.map(async (thread) => (await once(thread, 'message'))[0]),
  )
  assert.deepEqual(refusals.flat(), [])
})
