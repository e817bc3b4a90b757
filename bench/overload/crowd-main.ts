import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { requestText } from '../answer.ts'
import type { Crowd, Health, Seen } from './crowd.ts'
import { askEvery, openClients, percentile } from './schedule.ts'

/*
 * A crowd of clients that ask at a fixed rate, whether or not answers come, beside one that asks for the health; then a
 * few who ask politely, to see how long the service takes to come back. None sends a request before it has the answer to
 * its last one, as it is usual with HTTP/1.1; where all of them wait, a request is not sent. What is to be done is the
 * argument, as JSON.
 */

const TICK_MS = 1
const LEAD_PACE_MS = 5
const LEAD_MS = 1_500
const POLITE_MS = 10
const POLITE_CONNECTIONS = 32
/** How long the service is looked at after the load. */
const AFTERWARDS_MS = 2_500
const CALM_REQUESTS = 100
/** An answer that takes longer is not a normal one. */
const NORMAL_MS = 100
const WARM_UP_MS = 1_000
/** Answers of one batch arrive within this time. */
const TOGETHER_MS = 30

const { port, keysPath, from, rate, seconds, connections } = JSON.parse(process.argv[2]!) as Crowd
const texts = readFileSync(keysPath, 'utf8')
  .trimEnd()
  .split('\n')
  .map((key) => requestText(port, key))
let next = from

const counts = { ok: 0, shed: 0, other: 0 }
const latencies: number[] = []
/** When 200s came, beside how many. */
let first = 0
let last = 0
let after = 0
let asked = 0
let unsent = 0

const crowd = await openClients(port, connections)
const polite = await openClients(port, POLITE_CONNECTIONS)
/** Those who do not wait, whoever has not asked for the longest time first. */
const free = [...crowd]

const startedAt = performance.now() + LEAD_MS
const endsAt = startedAt + seconds * 1_000
// Both programs are to be compiled when the load begins: whatever they take of the processors the service lacks.
const health = askForHealth()
await askEvery(LEAD_PACE_MS, polite, nextText, startedAt)
while (performance.now() < endsAt) {
  sendDue()
  await delay(TICK_MS)
}
sendDue()
const afterwards = await recover()

function sendDue(): void {
  const present = Math.min(performance.now(), endsAt)
  const due = Math.floor(((present - startedAt) * rate) / 1_000)
  for (; asked < due; asked += 1) {
    const client = free.shift()
    if (client === undefined) {
      unsent += 1
      continue
    }
    client.ask(nextText(), startedAt + (asked * 1_000) / rate, (status, latency) => {
      free.push(client)
      count(status, latency)
    })
  }
}

/** In a process of its own: this one is busy, and would see itself late. */
async function askForHealth(): Promise<Health> {
  const moments = [startedAt, endsAt].map((moment) => String(performance.timeOrigin + moment))
  const args = [`${import.meta.dirname}/health-main.ts`, String(port), ...moments]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as Health
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

/** How long after the load's end an answer was not a normal one, and how long they took in the end. */
async function recover(): Promise<Pick<Seen, 'recovery' | 'calm'>> {
  const answered = await askEvery(POLITE_MS, polite, nextText, endsAt + AFTERWARDS_MS)
  const bad = answered.filter(({ status, latency }) => status !== 200 || latency > NORMAL_MS)
  const over = bad.map(({ dueAt, latency }) => dueAt + Math.min(latency, AFTERWARDS_MS) - endsAt)
  const late = answered.slice(-CALM_REQUESTS).map(({ latency }) => latency)
  return { recovery: Math.max(0, ...over), calm: percentile(late, 0.99) }
}

const seen: Seen = {
  goodput: after === 0 ? 0 : (after * 1_000) / (last - first),
  asked,
  ...counts,
  unanswered: asked - unsent - counts.ok - counts.shed - counts.other,
  unsent,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  health: await health,
  ...afterwards,
}
console.log(JSON.stringify(seen))
for (const client of [...crowd, ...polite]) client.close()
