import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { requestText } from '../answer.ts'

/*
 * Holds sockets that ask for nothing: of each two one is silent, and one sends a request's head byte by byte, whose end
 * never comes. Prints a line when all are open. On SIGTERM it lets go of them, waits until the service has done so too,
 * and prints how many the service had ended before. PORT COUNT.
 */

const [port = 0, count = 0] = process.argv.slice(2).map(Number)

/** As many as wait to be accepted at a time. */
const TOGETHER = 100
/** Between two bytes on one socket. */
const TRICKLE_MS = 1_000
/** The bytes go out one after the other, not all at the same moment. */
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
  // What it is told is not read by anybody; but its end is not heard of before that.
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
