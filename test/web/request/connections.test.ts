import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { CONNECTIONS_MAX, listenForDashboard } from '../../../src/web/listen.ts'
import { shareOf } from '../../../src/http/admission/peer-limit.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { once } from '../../fixtures/within.ts'

const SHARE = shareOf(CONNECTIONS_MAX)
const BEYOND = 30
const SLOW = 'POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx'
const QUICK = 'GET /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

test('one address has a quarter of the connections, and other addresses get answers', async (t) => {
  assert.equal(SHARE, 250)
  const refused: string[] = []
  const { port, close } = await listenForDashboard({
    load: async () => (_, outgoing) => outgoing.end('a page'),
    onFault: assert.ifError,
    host: '127.0.0.1',
    port: 0,
    reusePort: false,
    // Here the addresses of this machine stand for those of others.
    peers: { readPeer: (address) => address, onRefused: (peer) => refused.push(peer) },
    contact: null,
    names: [],
  })
  t.after(close)
  const from = (localAddress: string) => connect({ port, host: '127.0.0.1', localAddress })
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  let closed = 0
  for (let index = 0; index < SHARE + BEYOND; index += 1) {
    const socket = from('127.0.0.2')
    socket.on('error', () => {})
    socket.on('close', () => {
      closed += 1
    })
    sockets.push(socket)
    await once(socket, 'connect')
    socket.write(SLOW)
  }
  const other = from('127.0.0.1')
  other.write(QUICK)
  assert.match(await text(other), /^HTTP\/1\.1 200 /)
  await eventually(async () => closed === BEYOND)
  assert.deepEqual(refused, Array(BEYOND).fill('127.0.0.2'))

  // Closed connections free their places once the service sees them close.
  for (const socket of sockets) socket.destroy()
  await eventually(async () => {
    const again = from('127.0.0.2')
    again.write(QUICK)
    const answer = await text(again).catch(() => '')
    return answer.startsWith('HTTP/1.1 200 ')
  })
})
