import { connect, type Socket } from 'node:net'
import type { Ending, Order } from './idle-sockets.ts'
import { once } from '../../../fixtures/within.ts'

/*
 * The process that holds idle sockets. Half of them send nothing; the others send one byte of a
 * header per second.
 */

const [port, count] = process.argv.slice(2).map(Number) as [number, number]

/** As many as the listener's backlog accepts at a time. */
const TOGETHER = 100
const TRICKLE_MS = 1_000
/** Spreads the bytes over the second. */
const TICK_MS = 10

const sockets: Socket[] = []
const endings: Promise<Ending>[] = []
let next = 0

async function open(): Promise<void> {
  while (sockets.length < count) await Promise.all(Array.from({ length: TOGETHER }, openOne))
}

async function openOne(): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const trickles = sockets.push(socket) % 2 === 0
  await once(socket, 'connect')
  const since = performance.now()
  let said = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    said += text
  })
  socket.on('error', (error) => {
    said = error.message
  })
  if (trickles) socket.write('GET /health HTTP/1.1\r\nHost: example.com\r\nX: ')
  endings.push(
    once(socket, 'end').then(() => ({
      milliseconds: performance.now() - since,
      said: said.split('\r\n', 1).join(),
    })),
  )
}

function trickle(): void {
  for (let left = (sockets.length * TICK_MS) / TRICKLE_MS; left > 0; left -= 1) {
    next = (next + 1) % sockets.length
    const socket = sockets[next]!
    if (next % 2 === 1 && socket.writable && !socket.connecting) socket.write('x')
  }
}

const ORDERS: Record<Order, () => Promise<unknown>> = {
  open,
  ended: () => Promise.all(endings),
}

setInterval(trickle, TICK_MS)
process.on('message', (order: Order) => {
  void ORDERS[order]().then((result) => process.send!(result ?? null))
})
