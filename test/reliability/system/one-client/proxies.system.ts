import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { eventually } from '../../../fixtures/eventually.ts'
import { hosted } from '../../../wire/corpus/case.ts'
import { CERTIFICATE, type StartFront, startHaproxy, startNginx } from '../front/fronts.ts'
import { once } from '../../../fixtures/within.ts'

/*
 * One client holds as many connections as the proxies of deploy/ allow it, here 5 instead of 200.
 */

const MAX = 5
const REQUEST = hosted('GET /health HTTP/1.1')

const FRONTS: Record<string, [StartFront, places: Record<string, string>, beyond: RegExp]> = {
  nginx: [
    startNginx,
    { 'limit_conn clients 200': `limit_conn clients ${MAX}` },
    /^HTTP\/1\.1 502 .*\{"error":"Authentication service error\."\}/s,
  ],
  HAProxy: [startHaproxy, { 'sc0_conn_cur gt 200': `sc0_conn_cur gt ${MAX}` }, /^$/],
}

for (const [name, [startFront, places, beyond]] of Object.entries(FRONTS))
  test(`${name} passes on the requests of another client beside one that holds its share`, async (t) => {
    const { port, arrived } = await listenSilently(t)
    const front = await startFront(t, port, 1, places)
    for (let count = 1; count <= MAX; count += 1) {
      void request(t, front.port, '127.0.0.2')
      await eventually(async () => arrived() === count)
    }
    assert.match(await request(t, front.port, '127.0.0.2'), beyond)
    assert.equal(arrived(), MAX)
    void request(t, front.port, '127.0.0.3')
    await eventually(async () => arrived() === MAX + 1)
  })

/** A service that never answers. */
async function listenSilently(t: TestContext): Promise<{ port: number; arrived(): number }> {
  const sockets: Socket[] = []
  let arrived = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      arrived += 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, arrived: () => arrived }
}

/** Resolves with the answer when there is one, or when the proxy closes the connection. */
async function request(t: TestContext, port: number, localAddress: string): Promise<string> {
  const socket = connectTls({
    socket: connect({ port, host: '127.0.0.1', localAddress }),
    servername: 'localhost',
    ca: readFileSync(CERTIFICATE),
  })
  t.after(() => socket.destroy())
  socket.setEncoding('latin1')
  socket.on('error', () => {})
  socket.write(REQUEST)
  let received = ''
  socket.on('data', (text: string) => {
    received += text
    if (text.endsWith('}')) socket.end()
  })
  await once(socket, 'close').catch(() => {})
  return received
}
