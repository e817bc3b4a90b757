import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { HEAD_BYTES_MAX } from '../../../../src/http/limits.ts'
import { hosted } from '../../../wire/corpus/case.ts'
import type { Kind, Order } from './hostile-sockets.ts'
import { once } from '../../../fixtures/within.ts'

/*
 * The process that holds hostile sockets, from an address of its own.
 */

const [port, localAddress, counts] = process.argv.slice(2) as [string, string, string]

/** As many as the listener's backlog accepts at a time. */
const TOGETHER = 100
const TRICKLE_MS = 1_000
const PIPELINE_MS = 5_000
/** Between two groups that end. All at once would be one long turn of the service's event loop. */
const DESTROY_MS = 20
/** One request fewer than those after which the service closes. */
const PIPELINED = hosted('GET /nope HTTP/1.1').repeat(15)
const BEGUN = 'GET /v1/servers HTTP/1.1\r\nHost: example.com\r\nX: '
/** More than the buffers of the system take, in both directions. */
const PUMPED_BYTES = 20_000_000

const BEHAVIORS: Record<Kind, (socket: Socket) => void> = {
  silent: () => {},
  trickles: (socket) => {
    socket.write(BEGUN)
    every(TRICKLE_MS, socket, () => socket.write('x'))
  },
  'half a head': (socket) => socket.write(BEGUN),
  'a head of maximum size': (socket) => socket.write(BEGUN.padEnd(HEAD_BYTES_MAX - 1, 'x')),
  'many small pieces': (socket) => {
    socket.write(BEGUN)
    every(10, socket, () => socket.write('x'.repeat(16)))
  },
  'reads no answers': (socket) => {
    socket.pause()
    socket.write(PIPELINED)
    every(PIPELINE_MS, socket, () => socket.write(PIPELINED))
  },
  'reads no answers, without a pause': (socket) => {
    socket.pause()
    socket.setNoDelay(false)
    let left = PUMPED_BYTES
    const pump = () => {
      while (left > 0 && !socket.destroyed) {
        left -= PIPELINED.length
        if (!socket.write(PIPELINED)) break
      }
    }
    socket.on('drain', pump)
    pump()
  },
}

const sockets: Socket[] = []

async function open(): Promise<void> {
  const kinds = Object.entries(JSON.parse(counts) as Record<Kind, number>).flatMap(
    ([kind, count]) => Array.from({ length: count }, () => kind as Kind),
  )
  while (kinds.length > 0) await Promise.all(kinds.splice(0, TOGETHER).map(openOne))
}

async function openOne(kind: Kind): Promise<void> {
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress, noDelay: true })
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  BEHAVIORS[kind](socket)
}

function every(milliseconds: number, socket: Socket, write: () => void): void {
  const timer = setInterval(write, milliseconds)
  socket.on('close', () => clearInterval(timer))
}

async function destroy(): Promise<void> {
  while (sockets.length > 0) {
    for (const socket of sockets.splice(0, TOGETHER)) socket.destroy()
    await delay(DESTROY_MS)
  }
}

const ORDERS: Record<Order, () => Promise<void>> = { open, destroy }

process.on('message', (order: Order) => {
  void ORDERS[order]().then(() => process.send!('done'))
})
