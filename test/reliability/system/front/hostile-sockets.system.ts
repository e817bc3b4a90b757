import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../../../src/http/limits.ts'
import { programIn } from '../../../cli/program.ts'
import { eventually } from '../../../fixtures/eventually.ts'
import { holdHostileSockets, type Kind } from './hostile-sockets.ts'
import { METER, readMemory, residentOf, socketsOf } from './memory.ts'
import { startPoliteClients } from './polite-clients.ts'

/*
 * As many connections as the service accepts: silent, slow, half, huge, and such that never read.
 * Each costs the service a bounded amount of memory, and the well-behaved clients get their
 * listings.
 */

const CLIENTS = 10
/** Half of the sockets. The other half has another address. */
const COUNTS: Record<Kind, number> = {
  silent: 1_500,
  trickles: 1_000,
  'half a head': 1_000,
  'a head of maximum size': 1_000,
  'many small pieces': 10,
  'reads no answers': 480,
  'reads no answers, without a pause': 5,
}
const SOCKETS = 2 * Object.values(COUNTS).reduce((sum, count) => sum + count)
const UNREAD = 2 * (COUNTS['reads no answers'] + COUNTS['reads no answers, without a pause'])

/** Bytes per socket, on average. A head of maximum size takes 32 kB. */
const HEAP_MAX = 16_000
const RESIDENT_MAX = 48_000
/** The part of the growth that may stay. Allocators keep some pages for later. */
const STAYING_HEAP = 0.1
const STAYING_RESIDENT = 0.5

test(`${SOCKETS} hostile sockets take bounded memory, and other clients get their answers`, async (t) => {
  assert.equal(SOCKETS + CLIENTS, LIMITS.connectionsMax)
  const program = programIn(t)
  const service = await program.serve({ preload: METER })
  const clients = await startPoliteClients(program, service.port, CLIENTS)
  await clients.answered()
  const before = await readMemory(service)

  const hostile = holdHostileSockets(t, service.port, { '127.0.0.2': COUNTS, '127.0.0.3': COUNTS })
  await hostile.open()
  await clients.answered()
  const open = socketsOf(service)
  const beside = await readMemory(service)
  const heap = (beside.heap - before.heap) / SOCKETS
  const resident = (beside.resident - before.resident) / SOCKETS
  t.diagnostic(
    `${open} open; each: ${heap.toFixed(0)} bytes of heap, ${resident.toFixed(0)} resident`,
  )
  // The service may close those that read no answers.
  assert.ok(open >= SOCKETS - UNREAD, `${open} open`)
  assert.ok(heap < HEAP_MAX, `${heap} bytes of heap per socket`)
  assert.ok(resident < RESIDENT_MAX, `${resident} resident bytes per socket`)

  await hostile.destroy()
  await eventually(async () => socketsOf(service) < 2 * CLIENTS)
  await clients.answered()
  const after = await readMemory(service)
  assert.ok(after.heap < before.heap + STAYING_HEAP * (beside.heap - before.heap), `${after.heap}`)
  // V8 gives pages back some seconds later.
  const low = before.resident + STAYING_RESIDENT * (beside.resident - before.resident)
  await eventually(async () => residentOf(service) < low)
  t.diagnostic(JSON.stringify({ before, beside, after, later: residentOf(service) }))
  await clients.end()
})
