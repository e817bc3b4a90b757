import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createAnswer } from '../../../src/api/answer.ts'
import { refusal } from '../../../src/api/responses.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import { listen } from '../../../src/http/listen.ts'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { addKeys } from './keys.ts'
import { openPipeline, type Pipeline } from './pipeline.ts'
import { once } from '../../fixtures/within.ts'

const PACKETS = 40
const TOGETHER = 15

test('requests that arrive together are one statement and one round trip', async (t) => {
  const { keys, pipeline, messages } = await startService(t)
  // The first batch of a connection prepares its statement.
  const [first] = keys.splice(0, 1)
  await eventually(async () => (await pipeline.ask([first!]))[0] === 200)
  const before = { ...messages }
  for (let packet = 0; packet < PACKETS; packet += 1) {
    const statuses = await pipeline.ask(keys.splice(0, TOGETHER))
    assert.deepEqual(
      statuses,
      Array.from({ length: TOGETHER }, () => 200),
    )
  }
  const sent = Object.fromEntries(
    Object.entries(messages).map(([type, count]) => [type, count - (before[type] ?? 0)]),
  )
  const { bind, execute, sync, query = 0, parse = 0 } = sent
  assert.deepEqual(
    { bind, execute, sync, query, parse },
    {
      bind: PACKETS,
      execute: PACKETS,
      sync: PACKETS,
      query: 0,
      parse: 0,
    },
  )
})

/** Bytes between the store and PostgreSQL for one of 15 claims on known keys. */
const SENT_BYTES_MAX = 90
const RECEIVED_BYTES_MAX = 25

test('a claim on a known key takes few bytes on the way to PostgreSQL and back', async (t) => {
  const { url, keys, pipeline, bytes } = await startService(t)
  await asAdmin(url, (client) =>
    client.query(`INSERT INTO servers (id, created_by, name, host_label, updated_at)
      SELECT gen_random_uuid(), id, 'Survival', 'play.example.com', now() FROM users`),
  )
  const packet = keys.splice(0, TOGETHER)
  const areGranted = async () => {
    const statuses = await pipeline.ask(packet)
    await asAdmin(url, (client) => client.query('UPDATE api_keys SET last_used_at = NULL'))
    return statuses.every((status) => status === 200)
  }
  // The first claim learns the key. Each of the two connections prepares its statement.
  for (let turn = 0; turn < 4; turn += 1) await eventually(areGranted)
  const before = { ...bytes }
  assert.ok(await areGranted())
  const sent = (bytes.sent - before.sent) / TOGETHER
  const received = (bytes.received - before.received) / TOGETHER
  t.diagnostic(`${sent.toFixed(1)} bytes sent and ${received.toFixed(1)} received for each claim`)
  assert.ok(sent > 0 && sent <= SENT_BYTES_MAX, `${sent} bytes sent`)
  assert.ok(received > 0 && received <= RECEIVED_BYTES_MAX, `${received} bytes received`)
})

interface Scene {
  /** The database, without the counter. */
  url: string
  keys: string[]
  pipeline: Pipeline
  messages: Record<string, number>
  bytes: Bytes
}

/** What clients and the server have sent. */
interface Bytes {
  sent: number
  received: number
}

async function startService(t: TestContext): Promise<Scene> {
  const server = await openServer()
  t.after(() => server.remove())
  const direct = await createDatabase(server)
  const url = new URL(direct)
  const { port, messages, bytes } = await startCounter(t, Number(url.port))
  url.port = String(port)
  const store = await openServingPostgresStore(url.href)
  t.after(() => store.close())
  // On a busy machine a connection may take longer than the service waits for it.
  await eventually(() =>
    store.prepare().then(
      () => true,
      () => false,
    ),
  )
  const keys = await addKeys(store, PACKETS * TOGETHER + 1)
  const listener = await listen(
    { answer: createAnswer({ store, onFault: () => {} }), refuse: refusal, observe: () => {} },
    '127.0.0.1',
    0,
    { ...LIMITS, lingerMs: 100, drainGraceMs: 50 },
  )
  t.after(() => listener.close())
  const pipeline = await openPipeline(listener.port)
  t.after(() => pipeline.end())
  return { url: direct, keys, pipeline, messages, bytes }
}

const TYPES: Record<string, string> = {
  P: 'parse',
  B: 'bind',
  E: 'execute',
  S: 'sync',
  Q: 'query',
}

/** Passes bytes between clients and the server, and counts the clients' messages by their type. */
async function startCounter(
  t: TestContext,
  target: number,
): Promise<{ port: number; messages: Record<string, number>; bytes: Bytes }> {
  const messages: Record<string, number> = {}
  const counted = { sent: 0, received: 0 }
  const counter = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    let bytes = Buffer.alloc(0)
    // Only the first message has no type.
    let lengthAt = 0
    far.on('data', (chunk) => {
      counted.received += chunk.length
    })
    near.on('data', (chunk) => {
      counted.sent += chunk.length
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length >= lengthAt + 4) {
        const length = lengthAt + bytes.readInt32BE(lengthAt)
        if (bytes.length < length) return
        const type = lengthAt === 0 ? 'startup' : String.fromCharCode(bytes[0]!)
        const name = TYPES[type] ?? type
        messages[name] = (messages[name] ?? 0) + 1
        bytes = bytes.subarray(length)
        lengthAt = 1
      }
    })
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  counter.listen(0, '127.0.0.1')
  await once(counter, 'listening')
  t.after(() => counter.close())
  return { port: (counter.address() as AddressInfo).port, messages, bytes: counted }
}
