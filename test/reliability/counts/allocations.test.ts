import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { openPipeline } from './pipeline.ts'
import { once } from '../../fixtures/within.ts'

const REQUESTS = 10_000
/** Requests in one packet, so that they are one batch. */
const PACKET = 10
const KEYS = 500

interface Report {
  heap: number
  collections: number
}

/** The bytes of heap that a request may take, by its status: a tenth more than it takes. */
const BYTES_MAX = { 200: 4_200, 401: 3_025, 429: 3_100 }

test('a request allocates no more than its bound', async (t) => {
  const { port, keys, tell } = await startService(t)
  const pipeline = await openPipeline(port)
  t.after(() => pipeline.end())
  const unknown = Array.from({ length: PACKET }, () => generateKey())

  async function send(status: number): Promise<void> {
    if (status === 200) await tell('elapse')
    for (let from = 0; from < KEYS; from += PACKET) {
      const packet = status === 401 ? unknown : keys.slice(from, from + PACKET)
      const statuses = await pipeline.ask(packet)
      assert.deepEqual(
        statuses,
        packet.map(() => status),
      )
    }
  }

  for (const [name, bound] of Object.entries(BYTES_MAX)) {
    const status = Number(name)
    // The first rounds compile.
    for (let round = 0; round < 10; round += 1) await send(status)
    const before = await tell('collect')
    for (let sent = 0; sent < REQUESTS; sent += KEYS) await send(status)
    const after = await tell('report')
    assert.equal(after.collections, before.collections, 'the heap was collected meanwhile')
    const bytes = Math.round((after.heap - before.heap) / REQUESTS)
    t.diagnostic(`a ${status} takes ${bytes} bytes of heap`)
    assert.ok(bytes <= bound, `a ${status} takes ${bytes} bytes of heap, expected at most ${bound}`)
  }
})

async function startService(
  t: TestContext,
): Promise<{ port: number; keys: string[]; tell(what: string): Promise<Report> }> {
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      // Room for everything that the requests allocate, so that nothing is collected.
      '--min-semi-space-size=512',
      '--max-semi-space-size=512',
      join(ROOT, 'test/reliability/counts/service-main.ts'),
      String(KEYS),
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  t.after(() => child.kill('SIGKILL'))
  const [{ port, keys }] = await once(child, 'message')
  const tell = async (what: string): Promise<Report> => {
    child.send(what)
    return (await once(child, 'message'))[0]
  }
  return { port, keys, tell }
}
