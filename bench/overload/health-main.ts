import type { Health } from './crowd.ts'
import { askEvery, openClients, percentile } from './schedule.ts'

/*
 * Asks for the health at a steady pace, and counts what was due between two moments. Begun well before them, so that
 * this program is compiled by then. PORT FROM UNTIL, the moments in milliseconds since 1970.
 */

const PACE_MS = 10
const CONNECTIONS = 32
const HEALTH = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

const [port = 0, from = 0, until = 0] = process.argv.slice(2).map(Number)
const onOwnClock = (moment: number) => moment - performance.timeOrigin
const clients = await openClients(port, CONNECTIONS)
const answered = await askEvery(PACE_MS, clients, () => HEALTH, onOwnClock(until))
const latencies = answered
  .filter(({ dueAt }) => dueAt >= onOwnClock(from))
  .map(({ latency }) => latency)
const seen: Health = {
  asked: latencies.length,
  p99: percentile(latencies, 0.99),
  max: Math.max(...latencies),
}
console.log(JSON.stringify(seen))
for (const client of clients) client.close()
