import assert from 'node:assert/strict'
import { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import { startTestService } from '../fixtures/service.ts'
import { hosted } from './corpus/case.ts'
import { settled } from './held.ts'
import { open } from './raw.ts'

/*
 * What the front knows of a connection goes with it, so that its memory is bounded by those that are open.
 */

const CONNECTIONS = 100

test('of a connection that is closed nothing is kept', async (t) => {
  const { port } = await startTestService(t)
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const client = await open(port)
    client.send(hosted('GET /health HTTP/1.1'))
    await client.answers(1)
    client.socket.end()
    await client.untilEnd()
  }
  await settled()
  // Counts what is left after the garbage was collected: each connection knows what its last request was answered with.
  assert.ok(queryObjects(ServerResponse, { format: 'count' }) < CONNECTIONS / 2)
})
