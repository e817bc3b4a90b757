import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { requestText } from '../answer.ts'
import { type Client, openClient } from './client.ts'
import type { Crowd, Seen } from './crowd.ts'

/*
 * A crowd of clients that ask at a fixed rate, whether or not answers come, beside one that asks for the health; then a
 * few who ask politely, to see how long the service takes to come back. What is to be done is its argument, as JSON.
 */

const TICK_MS = 1
const HEALTH_MS = 10
const POLITE_MS = 10
const POLITE_CONNECTIONS = 32
/** How long the service is looked at after the load. */
const AFTERWARDS_MS = 2_500
/** What an answer that did not come is taken to have taken. */
const NEVER_MS = 60_000
const CALM_REQUESTS = 100
/** An answer that takes longer is not a normal one. */
const NORMAL_MS = 100
const WARM_UP_MS = 1_000
/** Answers of one batch arrive within this time. */
const TOGETHER_MS = 30
/** Requests that one connection has under way at most: the service closes one that has sixteen. */
const UNDER_WAY_MAX = 14

const { port, keysPath, from, rate, seconds, connections } = JSON.parse(process.argv[2]!) as Crowd
const texts = readFileSync(keysPath, 'utf8')
  .trimEnd()
  .split('\n')
  .map((key) => requestText(port, key))
const HEALTH = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
let next = from

const counts = { ok: 0, shed: 0, other: 0 }
const latencies: number[] = []
/** When 200s came, beside how many. */
let first = 0
let last = 0
let after = 0
let asked = 0
let unsent = 0

const crowd = await openClients(connections)
const polite = await openClients(POLITE_CONNECTIONS)
const health = await openClients(POLITE_CONNECTIONS)

const startedAt = performance.now() + 50
const endsAt = startedAt + seconds * 1_000
const healthSeen = every(HEALTH_MS, health, () => HEALTH)
while (performance.now() < endsAt) {
  sendDue()
  await delay(TICK_MS)
}
sendDue()
const healthLatencies = (await healthSeen).map(({ latency }) => latency)
const afterwards = await recover()

function sendDue(): void {
  const present = Math.min(performance.now(), endsAt)
  const due = Math.floor(((present - startedAt) * rate) / 1_000)
  for (; asked < due; asked += 1) {
    const client = freeOf(crowd, asked)
    if (client === null) unsent += 1
    else client.ask(nextText(), startedAt + (asked * 1_000) / rate, count)
  }
}

function openClients(count: number): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => openClient(port)))
}

/** In turn; those that are up to their limit are left out. */
function freeOf(clients: readonly Client[], turn: number): Client | null {
  for (let tries = 0; tries < clients.length; tries += 1) {
    const client = clients[(turn + tries) % clients.length]!
    if (client.underWay() < UNDER_WAY_MAX) return client
  }
  return null
}

function nextText(): string {
  next = (next + 1) % texts.length
  return texts[next]!
}

function count(status: number, latency: number): void {
  if (status === 502) counts.shed += 1
  else if (status !== 200) counts.other += 1
  else {
    counts.ok += 1
    latencies.push(latency)
    const present = performance.now()
    if (present > endsAt) return
    if (first === 0 && present >= startedAt + WARM_UP_MS) first = present
    // Those of one batch come together: they count for the time before it.
    if (first > 0 && present > first + TOGETHER_MS) {
      after += 1
      last = present
    }
  }
}

interface Answered {
  dueAt: number
  status: number
  latency: number
}

/** Asks at a steady pace until then; what has no answer in the end took a minute. */
async function every(
  milliseconds: number,
  clients: readonly Client[],
  text: () => string,
  until = endsAt,
): Promise<Answered[]> {
  const answered: Answered[] = []
  let sent = 0
  for (let dueAt = performance.now(); dueAt < until; dueAt += milliseconds) {
    await delay(Math.max(0, dueAt - performance.now()))
    sent += 1
    const at = dueAt
    freeOf(clients, sent)?.ask(text(), at, (status, latency) =>
      answered.push({ dueAt: at, status, latency }),
    )
  }
  while (answered.length < sent && performance.now() < until + AFTERWARDS_MS) await delay(TICK_MS)
  for (let lost = answered.length; lost < sent; lost += 1)
    answered.push({ dueAt: until, status: 0, latency: NEVER_MS })
  return answered
}

/** How long after the load's end an answer was not a normal one, and how long they took in the end. */
async function recover(): Promise<Pick<Seen, 'recovery' | 'calm'>> {
  const answered = await every(POLITE_MS, polite, nextText, endsAt + AFTERWARDS_MS)
  const bad = answered.filter(({ status, latency }) => status !== 200 || latency > NORMAL_MS)
  const over = bad.map(({ dueAt, latency }) => dueAt + Math.min(latency, AFTERWARDS_MS) - endsAt)
  const late = answered.slice(-CALM_REQUESTS).map(({ latency }) => latency)
  return { recovery: Math.max(0, ...over), calm: percentile(late, 0.99) }
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}

const seen: Seen = {
  goodput: after === 0 ? 0 : (after * 1_000) / (last - first),
  asked,
  ...counts,
  unanswered: asked - unsent - counts.ok - counts.shed - counts.other,
  unsent,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  health: {
    asked: healthLatencies.length,
    p99: percentile(healthLatencies, 0.99),
    max: Math.max(...healthLatencies),
  },
  ...afterwards,
}
console.log(JSON.stringify(seen))
for (const client of [...crowd, ...polite, ...health]) client.close()
