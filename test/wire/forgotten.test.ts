import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import { healthy, refusal } from '../../src/api/responses.ts'
import { listen } from '../../src/http/listen.ts'
import type { Response } from '../../src/http/message.ts'
import { startTestService } from '../fixtures/service.ts'
import { hosted } from './corpus/case.ts'
import { settled } from './client/held.ts'
import { open } from './client/raw.ts'

/* The front's memory depends on the open connections and the requests under way only. */

const CONNECTIONS = 100

test('the front keeps nothing of a closed connection', async (t) => {
  const { port } = await startTestService(t)
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const client = await open(port)
    client.send(hosted('GET /health HTTP/1.1'))
    await client.answers(1)
    client.socket.end()
    await client.untilEnd()
  }
  await settled()
  // Counts objects after a garbage collection. The client's sockets are in this process, too.
  assert.ok(queryObjects(Socket, { format: 'count' }) < CONNECTIONS / 2)
})

test('an idle connection keeps nothing of its last answer', async (t) => {
  class Answer implements Response {
    status = healthy.status
    head = healthy.head
    body = healthy.body
    route = healthy.route
    apiKeyId = null
  }
  const application = {
    answer: () => new Answer(),
    refuse: refusal,
    observe: () => {},
  }
  const listener = await listen(application, '127.0.0.1', 0)
  t.after(listener.close)
  const client = await open(listener.port)
  client.send(hosted('GET / HTTP/1.1').repeat(2))
  await client.answers(2)
  await settled()
  assert.equal(queryObjects(Answer, { format: 'count' }), 0)
  client.socket.destroy()
})
