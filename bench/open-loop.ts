import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { requestText } from './answer.ts'

/*
 * Asks at a fixed rate, whether or not the answers come: request n is due n / rate seconds after the start, and its
 * latency counts from then on, so a stall is seen by every request that was due while it lasted. A program of its
 * own: PORT KEYS_FILE FIRST_KEY RATE SECONDS.
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
}

const CONNECTIONS = 128
const TICK_MS = 1
/** How long the last answers are waited for. */
const GRACE_MS = 5_000

const [port = 0, from = 0, rate = 0, seconds = 0] = [2, 4, 5, 6].map((at) =>
  Number(process.argv[at]),
)
const keys = readFileSync(process.argv[3]!, 'utf8').trimEnd().split('\n')
const total = Math.round(rate * seconds)
const latencies = new Float64Array(total)
let ok = 0
let other = 0

/** A connection has one request under way at most. */
interface Connection {
  socket: Socket
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

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    const connection: Connection = { socket, dueAt: 0, missing: null, status: 0 }
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.on('data', (chunk) => receive(connection, chunk))
    idle.push(connection)
  })
}

/** Sends what is due. Where all connections are busy it waits, and its latency grows. */
function sendDue(): void {
  const due = Math.min(total, Math.floor(((performance.now() - startedAt) * rate) / 1000))
  while (sent < due && idle.length > 0) {
    const connection = idle.shift()!
    connection.dueAt = startedAt + (sent * 1000) / rate
    connection.socket.write(requestText(port, keys[(from + sent) % keys.length]!), 'latin1')
    sent += 1
  }
}

function receive(connection: Connection, chunk: Buffer): void {
  if (connection.missing === null) {
    // The servers under test send a head in one piece, so it comes in one.
    const head = chunk.toString('latin1', 0, chunk.indexOf('\r\n\r\n') + 4)
    connection.status = Number(head.slice(9, 12))
    connection.missing = head.length + Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1])
  }
  connection.missing -= chunk.length
  if (connection.missing > 0) return
  connection.missing = null
  if (connection.status === 200) latencies[ok++] = performance.now() - connection.dueAt
  else other += 1
  idle.push(connection)
  if (ok + other === total) finish()
  else sendDue()
}

function finish(): void {
  clearInterval(timer)
  clearTimeout(deadline)
  for (const socket of sockets) socket.destroy()
  const unanswered = total - ok - other
  const sorted = latencies.fill(Number.MAX_SAFE_INTEGER, ok, ok + unanswered)
  const counted = sorted.subarray(0, ok + unanswered).toSorted()
  const percentile = (share: number) => counted[Math.ceil(counted.length * share) - 1] ?? 0
  const [p50, p99, p999] = [percentile(0.5), percentile(0.99), percentile(0.999)]
  console.log(JSON.stringify({ ok, other, unanswered, p50, p99, p999 } satisfies Latencies))
}
