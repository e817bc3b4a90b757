import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { Ending, Order } from './idle-sockets.ts'

/*
 * The thread that holds idle sockets: of each two one says nothing, and one a byte of a header each second.
 */

const { port, count } = workerData as { port: number; count: number }

/** As many as wait to be accepted at a time. */
const TOGETHER = 100
const TRICKLE_MS = 1_000

let sockets: Socket[] = []
let endings: Promise<Ending>[] = []

async function open(): Promise<void> {
  sockets = []
  endings = []
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
  if (trickles) trickle(socket)
  endings.push(
    once(socket, 'end').then(() => ({
      milliseconds: performance.now() - since,
      said: said.split('\r\n', 1).join(),
    })),
  )
}

function trickle(socket: Socket): void {
  socket.write('GET /health HTTP/1.1\r\nHost: example.com\r\nX: ')
  const timer = setInterval(() => socket.write('x'), TRICKLE_MS)
  for (const event of ['end', 'close']) socket.once(event, () => clearInterval(timer))
}

async function drop(): Promise<void> {
  // Nobody waits for their ends any more.
  for (const ending of endings) ending.catch(() => {})
  const open = sockets.filter(({ closed }) => !closed)
  await Promise.all(
    open.map((socket) => {
      socket.destroy()
      return once(socket, 'close')
    }),
  )
}

const ORDERS: Record<Order, () => Promise<unknown>> = {
  open,
  drop,
  ended: () => Promise.all(endings),
}

parentPort!.on('message', async (order: Order) => {
  parentPort!.postMessage(await ORDERS[order]())
})
