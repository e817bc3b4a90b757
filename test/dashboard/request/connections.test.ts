import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { eventually } from '../../fixtures/eventually.ts'

/** Above the limit of 200 for one address. */
const CONNECTIONS = 230
const SLOW =
  'POST /sign-in HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 9\r\n' +
  'Content-Type: application/x-www-form-urlencoded\r\n\r\nx'

test('one address can hold at most 200 connections, and other addresses get answers', async (t) => {
  const { port } = await startDashboard(t)
  const from = (localAddress: string) => connect({ port, host: '127.0.0.1', localAddress })
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  let closed = 0
  for (let index = 0; index < CONNECTIONS; index += 1) {
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
  other.write('GET /sign-in HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await text(other), /^HTTP\/1\.1 200 /)
  assert.equal(closed, 30)

  // Closed connections free their places once the service sees them close.
  for (const socket of sockets) socket.destroy()
  await eventually(async () => {
    const again = from('127.0.0.2')
    again.write('GET /sign-in HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const answer = await text(again).catch(() => '')
    return answer.startsWith('HTTP/1.1 200 ')
  })
})
