import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { judgeList } from '../src/checks/listing.ts'
import { createJudge } from '../src/judge.ts'
import { createSender } from '../src/sender.ts'
import { readAnswer } from '../src/wire/answer.ts'
import { connect, type Exchange } from '../src/wire/connection.ts'
import { readTarget } from '../src/wire/target.ts'

/* A server that sends too much, or too slowly, costs the kit a bounded time and memory. */

const OK = 'HTTP/1.1 200 OK\r\n'
const REQUEST = { text: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', isHead: false }
const PIECE = 'x'.repeat(10_000)

/** The bytes that a connection of these tests may keep, and those that one packet adds. */
const BYTES_MAX = 200_000
const PACKET_MAX = 65_536
const TOO_MUCH = `no end within ${BYTES_MAX} bytes`

/** Starts a server that sends the beginning, and then the piece again and again. */
async function serveForEver(
  t: TestContext,
  beginning: string,
  piece: string,
  everyMs: number,
): Promise<{ port: number; sent(): number }> {
  let sent = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(beginning)
      const send = () => {
        if (socket.destroyed) return
        sent += piece.length
        const isRead = socket.write(piece)
        if (everyMs > 0) setTimeout(send, everyMs).unref()
        else if (isRead) setImmediate(send)
        else socket.once('drain', send)
      }
      send()
    })
    sockets.add(socket)
  })
  const sockets = new Set<Socket>()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sent: () => sent }
}

async function exchangeWith(
  t: TestContext,
  port: number,
  patienceMs: number,
  way: 'ask' | 'probe' = 'ask',
): Promise<Exchange> {
  const limits = { patienceMs, bytesMax: BYTES_MAX }
  const connection = await connect(readTarget(`http://127.0.0.1:${port}`)!, limits)
  t.after(connection.close)
  if (way === 'probe') return connection.probe(REQUEST.text, 500)
  return (await connection.ask([REQUEST]))[0]!
}

suite('a hostile server', { concurrency: true }, () => {
  const FLOODS: Record<string, [beginning: string, piece: string, failure: RegExp | string]> = {
    'a body without a length': [`${OK}\r\n`, PIECE, TOO_MUCH],
    'a body of a gigabyte': [`${OK}Content-Length: 1000000000\r\n\r\n`, PIECE, TOO_MUCH],
    'a chunk after the other': [
      `${OK}Transfer-Encoding: chunked\r\n\r\n`,
      '1\r\nx\r\n'.repeat(1_000),
      TOO_MUCH,
    ],
    'interim answers': ['', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100), TOO_MUCH],
    'a header': [`${OK}X: `, PIECE, /^no HTTP answer: HTTP\/1\.1 200/],
    'header after header': [OK, `X: ${PIECE}\r\n`, /^no HTTP answer: HTTP\/1\.1 200/],
  }
  for (const [name, [beginning, piece, failure]] of Object.entries(FLOODS))
    test(`that sends ${name} without end gets a finding`, async (t) => {
      const { port } = await serveForEver(t, beginning, piece, 0)
      const exchange = await exchangeWith(t, port, 60_000)
      assert.equal(exchange.answer, null)
      assert.match(exchange.failure!, typeof failure === 'string' ? new RegExp(failure) : failure)
      assert.ok(exchange.surplus.length <= BYTES_MAX + PACKET_MAX)
    })

  test('that sends a byte now and then has a bounded time for the whole answer', async (t) => {
    const { port, sent } = await serveForEver(t, OK, 'x', 100)
    const { answer, failure } = await exchangeWith(t, port, 1_500)
    assert.deepEqual([answer, failure], [null, 'no whole answer within 1.5 s'])
    assert.ok(sent() > 1)
  })

  test('that answers no request in time has a bounded time for a whole run', async (t) => {
    const { port } = await serveForEver(t, OK, 'x', 100)
    const target = readTarget(`http://127.0.0.1:${port}`)!
    const { send } = createSender(target, { take: async () => {} }, 1_500)
    const begun = performance.now()
    const failures = []
    for (const path of ['/a', '/b', '/c']) failures.push((await send({ path, fields: [] })).failure)
    assert.match(failures[0]!, /within 1\.[45]\d* s$/)
    assert.deepEqual(failures.slice(1), Array(2).fill('no whole answer within 1 s'))
    // Fifteen seconds each without the bound.
    assert.ok(performance.now() - begun < 15_000)
  })

  for (const [name, everyMs] of [
    ['without a pause', 0],
    ['now and then', 100],
  ] as const)
    test(`that goes on behind its answer ${name} does not hold up a probe`, async (t) => {
      const { port } = await serveForEver(t, `${OK}Content-Length: 2\r\n\r\n{}`, 'x', everyMs)
      const { answer, surplus } = await exchangeWith(t, port, 1_500, 'probe')
      assert.equal(answer?.body, '{}')
      assert.match(surplus, /^x+$/)
      assert.ok(surplus.length <= BYTES_MAX + PACKET_MAX)
    })
})

test('the time to read a head grows with its length only', () => {
  const head = `${OK}X: a${' '.repeat(60_000)}b\r\n${'Y:\r\n'.repeat(1_000)}\r\n`
  const begun = process.cpuUsage()
  const reading = readAnswer(head, true, false)
  const { user } = process.cpuUsage(begun)
  assert.ok(typeof reading === 'object')
  assert.equal(reading.answer.fields.get('x')?.[0]?.length, 60_002)
  assert.equal(reading.answer.fields.get('y')?.length, 1_000)
  // Quadratic time would be seconds.
  assert.ok(user < 2_000_000, `${user} µs`)
})

test('a head of more than 64 kB is no answer, whether it ends or not', () => {
  const long = `${OK}X: ${'x'.repeat(65_536)}`
  assert.equal(readAnswer(long, true, false), 'no answer')
  assert.equal(readAnswer(`${long}\r\n\r\n`, true, false), 'no answer')
})

test('a list of too many or too deep servers is judged in bounded work', () => {
  const judge = createJudge((text) => text)
  const many = Array.from({ length: 50_000 }, (_, index) => `{"a${index}":1}`)
  const deep = `{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  for (const servers of [many.join(','), deep])
    judgeList(judge, {
      sent: REQUEST.text,
      t0: 0,
      t1: 1,
      answer: { status: 200, fields: new Map(), body: `{"servers":[${servers}]}` },
      failure: null,
      surplus: '',
    })
  const { 'server-fields': fields, 'server-types': types } = Object.fromEntries(judge.results)
  assert.equal(fields?.findings.length, 101)
  assert.deepEqual(
    types?.findings.map(({ seen }) => seen),
    ['id: an array'],
  )
})
