import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { listenForOps } from '../../src/ops/listen.ts'
import { createRequestMeter } from '../../src/ops/request-meter.ts'
import { eventually } from '../fixtures/eventually.ts'
import { ask } from '../fixtures/requests.ts'
import { once } from '../fixtures/within.ts'

/* Who gets an answer from the operator's listener. */

/** More than the connections that the listener keeps. */
const IDLE = 150

async function start(t: TestContext, host: string): Promise<number> {
  const ops = await listenForOps({
    host,
    port: 0,
    store: null,
    requests: createRequestMeter([]),
    build: { version: '1.2.3', engine: 'none' },
    log: { info() {}, error() {} },
  })
  t.after(ops.close)
  return ops.port
}

async function statusFor(port: number, named: string, host = '127.0.0.1'): Promise<number> {
  return (await ask(port, { host, path: '/livez', headers: { Host: named } })).status
}

test('on a loopback address, no request with a foreign host learns anything', async (t) => {
  // An IPv6 address on many machines.
  const host = 'localhost'
  const port = await start(t, host)
  for (const path of ['/livez', '/readyz', '/metrics', '/nope']) {
    const { status, body } = await ask(port, { host, path, headers: { Host: 'evil.example:8082' } })
    assert.equal(status, 421)
    assert.match(JSON.parse(body).error, /answers only for IP addresses, localhost and OPS_HOST/)
  }
  for (const named of ['127.0.0.1', '127.0.0.1:8082', '[::1]', 'localhost:8082', ''])
    assert.equal(await statusFor(port, named, host), 200)
})

test('on every address, any host name is answered', async (t) => {
  const port = await start(t, '0.0.0.0')
  for (const host of ['server-listing:8082', '127.0.0.1'])
    assert.equal(await statusFor(port, host), 200)
})

test('idle connections leave room for a probe', async (t) => {
  const port = await start(t, '127.0.0.1')
  let closed = 0
  for (let count = 0; count < IDLE; count += 1) {
    const socket = connect({ port, host: '127.0.0.1' })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => {
      closed += 1
    })
    await once(socket, 'connect')
  }
  for (let count = 0; count < 5; count += 1) assert.equal(await statusFor(port, '127.0.0.1'), 200)
  await eventually(async () => closed >= IDLE - 100)
})
