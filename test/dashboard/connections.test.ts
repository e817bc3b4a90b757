import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sqliteDatabase, startDashboard } from '../fixtures/dashboard.ts'

/** More than one address may have. */
const CONNECTIONS = 230
const SLOW =
  'POST /sign-in HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 9\r\n' +
  'Content-Type: application/x-www-form-urlencoded\r\n\r\nx'

test('one address holds so many connections with forms it does not finish; others are answered', async (t) => {
  const { port } = await startDashboard(t, sqliteDatabase)
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
  other.end('GET /sign-in HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await text(other), /^HTTP\/1\.1 200 /)
  assert.equal(closed, 30)

  // What was closed is free again, as soon as the service has heard of it.
  for (const socket of sockets) socket.destroy()
  for (let tries = 1; ; tries += 1) {
    const again = from('127.0.0.2')
    again.end('GET /sign-in HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const answer = await text(again).catch(() => '')
    if (answer.startsWith('HTTP/1.1 200 ')) break
    assert.ok(tries < 100, 'the address is still refused')
    await delay(20)
  }
})
