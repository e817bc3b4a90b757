import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addKeys } from '../counts/keys.ts'
import { openPipeline, type Pipeline } from '../counts/pipeline.ts'
import { serveTraced } from './traced-service.ts'

const PACKETS = 50
/** The most requests of one connection that are answered together. */
const TOGETHER = 15

/** For one packet, whatever it holds: two locks are taken and released, and a page is written. */
const LOCKS_MAX = 7
const PAGES_MAX = 3
/** The calls of the marks, beside one for each packet. */
const OTHER_CALLS_MAX = 3

test('the requests of one packet are one read, one transaction and one write, without a sync', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  const keys = await addKeys(store, PACKETS * (TOGETHER + 1))
  await store.close()
  const trace = join(folder, 'trace')
  const { port } = await serveTraced(t, path, [
    '--trace=read,write,writev,pread64,pwrite64,fcntl,fsync,fdatasync',
    '--string-limit=200',
    `--output=${trace}`,
  ])
  const pipeline = await openPipeline(port)
  t.after(() => pipeline.end())

  for (const requests of [1, TOGETHER]) {
    const begin = await mark(trace, pipeline)
    for (let packet = 0; packet < PACKETS; packet += 1) {
      const statuses = await pipeline.ask(keys.splice(0, requests))
      assert.deepEqual(
        statuses,
        Array.from({ length: requests }, () => 200),
      )
    }
    const calls = countCalls(trace, begin, await mark(trace, pipeline))
    t.diagnostic(`${PACKETS} packets of ${requests}: ${JSON.stringify(calls)}`)
    const { read = 0, write = 0, fcntl = 0, pwrite64 = 0, fsync = 0, fdatasync = 0 } = calls
    assert.ok(read <= PACKETS + OTHER_CALLS_MAX, `${read} reads`)
    assert.ok(write <= PACKETS + OTHER_CALLS_MAX, `${write} writes`)
    assert.ok(fcntl > 0 && fcntl <= PACKETS * LOCKS_MAX, `${fcntl} calls for locks`)
    assert.ok(pwrite64 > 0 && pwrite64 <= PACKETS * PAGES_MAX, `${pwrite64} writes to the file`)
    assert.equal(fsync + fdatasync, 0, 'syncs')
  }
})

let marks = 0

/** Sends a text that the trace shows, waits until it does, and returns it. */
async function mark(trace: string, pipeline: Pipeline): Promise<string> {
  marks += 1
  const text = `mark-${marks}`
  await pipeline.ask([text])
  await eventually(async () => readFileSync(trace, 'latin1').includes(text))
  return text
}

/**
 * How often each call was made between two marks. Of reads and writes only those of the connection
 * count: threads of V8 wake each other through a file of their own, as often as they like.
 */
function countCalls(trace: string, begin: string, end: string): Record<string, number> {
  const lines = readFileSync(trace, 'latin1').split('\n')
  const from = lines.findIndex((line) => line.includes(begin))
  const to = lines.findIndex((line) => line.includes(end))
  const connection = /\((\d+)/.exec(lines[from]!)?.[1]
  const counts: Record<string, number> = {}
  for (const line of lines.slice(from + 1, to)) {
    const [, name, file] = /^\d+ +(\w+)\((\d+)/.exec(line) ?? []
    if (/^(?:read|write|writev)$/.test(name ?? '') && file !== connection) continue
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
