import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { requestText } from './answer.ts'

/*
 * Asks at a fixed rate, whether or not the answers come: request n is due n / rate seconds after the start, and its
 * latency counts from then on, so a stall is seen by every request that was due while it lasted. Those of the first
 * second do not count: in it this program is still being compiled. PORT KEYS_FILE FIRST_KEY RATE SECONDS.
 */

export interface Latencies {
  ok: number
  other: number
  /** Requests without an answer; in the percentiles they count as endlessly late. */
  unanswered: number
  /** In milliseconds; only answers with 200. */
  p50: number
  p99: number
  p999: number
  /** The same of each whole second that counts, by when its requests were due. */
  eachSecond: { p50: number; p99: number }[]
}

const CONNECTIONS = 128
const TICK_MS = 1
/** How long the last answers are waited for. */
const GRACE_MS = 5_000
const NEVER = Number.MAX_SAFE_INTEGER

const [port = 0, from = 0, rate = 0, seconds = 0] = [2, 4, 5, 6].map((at) =>
  Number(process.argv[at]),
)
const keys = readFileSync(process.argv[3]!, 'utf8').trimEnd().split('\n')
const total = Math.round(rate * seconds)
const uncounted = Math.min(rate, total / 2)
/** Of each request; NaN where the answer is not a 200. */
const latencies = new Float64Array(total).fill(NEVER)
let ok = 0
let other = 0

/** A connection has one request under way at most. */
interface Connection {
  socket: Socket
  number: number
  dueAt: number
  /** Bytes of the answer that are still to come; null before its head has arrived. */
  missing: number | null
  status: number
}

const idle: Connection[] = []
let sent = 0
let startedAt = 0

const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, open))
startedAt = performance.now() + 10
const timer = setInterval(sendDue, TICK_MS)
const deadline = setTimeout(finish, seconds * 1000 + GRACE_MS)

async function open(): Promise<Socket> {
  const connection = { number: 0, dueAt: 0, missing: null, status: 0 } as unknown as Connection
  // Always into the same buffer: collecting one for each answer would stop this program, and count as latency.
  const onread = {
    buffer: Buffer.alloc(64 * 1024),
    callback: (bytes: number, buffer: Uint8Array) => receive(connection, bytes, buffer),
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
  await once(socket, 'connect')
  connection.socket = socket
  idle.push(connection)
  return socket
}

/** Sends what is due. Where all connections are busy it waits, and its latency grows. */
function sendDue(): void {
  const due = Math.min(total, Math.floor(((performance.now() - startedAt) * rate) / 1000))
  while (sent < due && idle.length > 0) {
    const connection = idle.shift()!
    connection.number = sent
    connection.dueAt = startedAt + (sent * 1000) / rate
    connection.socket.write(requestText(port, keys[(from + sent) % keys.length]!), 'latin1')
    sent += 1
  }
}

function receive(connection: Connection, bytes: number, buffer: Uint8Array): boolean {
  if (connection.missing === null) {
    // The servers under test send a head in one piece, so it comes in one.
    const text = Buffer.from(buffer.buffer, buffer.byteOffset, bytes)
    const head = text.toString('latin1', 0, text.indexOf('\r\n\r\n') + 4)
    connection.status = Number(head.slice(9, 12))
    connection.missing = head.length + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1])
  }
  connection.missing -= bytes
  if (connection.missing <= 0) complete(connection)
  return true
}

function complete(connection: Connection): void {
  connection.missing = null
  const isOk = connection.status === 200
  if (isOk) ok += 1
  else other += 1
  latencies[connection.number] = isOk ? performance.now() - connection.dueAt : Number.NaN
  idle.push(connection)
  if (ok + other === total) finish()
  else sendDue()
}

function finish(): void {
  clearInterval(timer)
  clearTimeout(deadline)
  for (const socket of sockets) socket.destroy()
  const unanswered = total - ok - other
  const counted = sortedFrom((latency, number) => number >= uncounted || latency === NEVER)
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => percentile(counted, share)) as Three
  const eachSecond: Latencies['eachSecond'] = []
  for (let first = uncounted; first + rate <= total; first += rate) {
    const second = sortedFrom((_, number) => number >= first && number < first + rate)
    eachSecond.push({ p50: percentile(second, 0.5), p99: percentile(second, 0.99) })
  }
  const seen: Latencies = { ok, other, unanswered, p50, p99, p999, eachSecond }
  console.log(JSON.stringify(seen))
}

type Three = [number, number, number]

function sortedFrom(isMeant: (latency: number, number: number) => boolean): Float64Array {
  return latencies
    .filter((latency, number) => !Number.isNaN(latency) && isMeant(latency, number))
    .toSorted()
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0
}
