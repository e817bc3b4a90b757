import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { requestText } from '../load/requests.ts'

/*
 * Holds sockets that never complete a request. Half of them are silent. The other half sends a
 * request's head byte by byte, without its end. Prints a line when all are open. On SIGTERM the
 * program closes the sockets and waits until the service has closed them, too. Then it prints how
 * many the service had closed before. Arguments: PORT COUNT.
 */

const [port = 0, count = 0] = process.argv.slice(2).map(Number)

/** Sockets that connect at the same time. */
const TOGETHER = 100
/** Time between two bytes on one socket. */
const TRICKLE_MS = 1_000
/** Time between two writes, so that the bytes of all sockets spread over TRICKLE_MS. */
const TICK_MS = 5

const head = requestText(port, 'x').trimEnd()
const trickling: Socket[] = []
const all: Socket[] = []
const closings: Promise<unknown>[] = []
let ended = 0
let isOver = false
let written = 0

while (all.length < count) await Promise.all(Array.from({ length: TOGETHER }, open))
const startedAt = performance.now()
const timer = setInterval(trickle, TICK_MS)
process.once('SIGTERM', () => void letGo())
console.log('open')

async function open(): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  if (all.push(socket) % 2 === 0) trickling.push(socket)
  await once(socket, 'connect')
  socket.on('error', () => {})
  // Discards the answer. Node.js reports the socket's end only after reading everything.
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  closings.push(closed)
  void closed.then(() => {
    if (!isOver) ended += 1
  })
}

function trickle(): void {
  const due = ((performance.now() - startedAt) * trickling.length) / TRICKLE_MS
  for (; written < due; written += 1) {
    const socket = trickling[written % trickling.length]!
    const byte = head[Math.floor(written / trickling.length)]
    if (byte !== undefined && socket.writable) socket.write(byte, 'latin1')
  }
}

async function letGo(): Promise<void> {
  isOver = true
  clearInterval(timer)
  for (const socket of all) socket.end()
  await Promise.all(closings)
  console.log(ended)
}
