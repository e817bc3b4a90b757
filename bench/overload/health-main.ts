import type { Health } from './crowd.ts'
import { askEvery, openClients, percentile } from './schedule.ts'

/*
 * Asks for the health at a steady pace. PORT SECONDS.
 */

const PACE_MS = 10
const CONNECTIONS = 32
const HEALTH = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

const [port = 0, seconds = 0] = process.argv.slice(2).map(Number)
const clients = await openClients(port, CONNECTIONS)
const answered = await askEvery(PACE_MS, clients, () => HEALTH, performance.now() + seconds * 1_000)
const latencies = answered.map(({ latency }) => latency)
const seen: Health = {
  asked: latencies.length,
  p99: percentile(latencies, 0.99),
  max: Math.max(...latencies),
}
console.log(JSON.stringify(seen))
for (const client of clients) client.close()
