import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programIn } from '../../../cli/program.ts'
import { holdIdleSockets } from './idle-sockets.ts'

/*
 * Thousands of connections that send nothing, or send very slowly, end soon.
 */

const SOCKETS = 2_000
const ENDED_AFTER_MS = 11_000
/** The longest pause of a busy machine. */
const STALL_MS = 3_000

test(`${SOCKETS} idle sockets are ended within ${ENDED_AFTER_MS / 1_000} seconds`, async (t) => {
  const { port } = await programIn(t).serve()
  const idle = holdIdleSockets(t, port, SOCKETS)
  await idle.open()
  const endings = await idle.ended()
  assert.equal(endings.length, SOCKETS)
  assert.deepEqual([...new Set(endings.map(({ said }) => said))], ['HTTP/1.1 408 Request Timeout'])
  const last = Math.max(...endings.map(({ milliseconds }) => milliseconds))
  t.diagnostic(`the last one ended after ${(last / 1_000).toFixed(2)} s`)
  assert.ok(last < ENDED_AFTER_MS + STALL_MS, `${last} ms`)
})
