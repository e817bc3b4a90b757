import { createChildren } from '../children.ts'
import { openClients } from './client.ts'
import { textsOf } from './requests.ts'
import { type Load, runPaced, type Seen } from './programs.ts'
import { type Answered, askOnSchedule, percentile } from './schedule.ts'

/*
 * A crowd of clients sends requests at a fixed rate. Each client waits for its answer before it
 * sends again, as usual with HTTP/1.1. Another process requests `/health` meanwhile: in this busy
 * one it would measure its own delays. After the load, a few polite clients measure how long the
 * service takes to recover. The argument is a Load as JSON.
 */

const LEAD_MS = 1_500
const LEAD_RATE = 200
/** Requests per second of the polite clients, and for `/health`. */
const POLITE_RATE = 100
/** Enough that these requests do not wait for a connection while answers take a second. */
const POLITE_CONNECTIONS = 128
/** How long polite clients send requests after the load. */
const AFTERWARDS_MS = 2_500
/** The longest time of a normal answer. */
const NORMAL_MS = 100
const WARM_UP_MS = 1_000
/** All answers of one batch arrive within this time. */
const TOGETHER_MS = 30

const crowd = JSON.parse(process.argv[2]!) as Load
const { port, rate, seconds } = crowd
const text = textsOf(crowd)
const clients = await openClients(port, crowd.connections)
const polite = await openClients(port, POLITE_CONNECTIONS)

const leadsAt = performance.now()
const startsAt = leadsAt + LEAD_MS
const endsAt = startsAt + seconds * 1_000
// V8 should have compiled all programs before the load begins. The service lacks any CPU time that
// they use.
const health = runPaced(createChildren(), {
  port,
  keysPath: null,
  from: 0,
  rate: POLITE_RATE,
  seconds: seconds + LEAD_MS / 1_000,
  uncountedSeconds: LEAD_MS / 1_000,
  connections: POLITE_CONNECTIONS,
  startsAt: performance.timeOrigin + leadsAt,
})
await askPolitely(LEAD_RATE, leadsAt, startsAt)
const load = askOnSchedule({ clients, text, rate, startsAt, endsAt, whenBusy: 'drop' })
await new Promise((resolve) => setTimeout(resolve, endsAt - performance.now()))
const recovery = recoveryOf(await askPolitely(POLITE_RATE, endsAt, endsAt + AFTERWARDS_MS))

const all = await load
const having = (status: number) => all.filter((request) => request.status === status)
const [ok, shed, unanswered] = [having(200), having(502).length, having(0).length]
const asked = Math.round(rate * seconds)
const seen: Seen = {
  goodput: goodputOf(ok),
  asked,
  ok: ok.length,
  shed,
  other: all.length - ok.length - shed - unanswered,
  unanswered,
  unsent: asked - all.length,
  p99: percentile(
    ok.map(({ latency }) => latency),
    0.99,
  ),
  health: await health,
  recovery,
}
console.log(JSON.stringify(seen))
for (const client of [...clients, ...polite]) client.close()

function askPolitely(rate: number, startsAt: number, endsAt: number): Promise<Answered[]> {
  return askOnSchedule({ clients: polite, text, rate, startsAt, endsAt, whenBusy: 'wait' })
}

function goodputOf(ok: readonly Answered[]): number {
  const instants = ok
    .map(({ dueAt, latency }) => dueAt + latency)
    .filter((instant) => instant >= startsAt + WARM_UP_MS && instant <= endsAt)
    .toSorted((a, b) => a - b)
  // The answers of one batch arrive together. They count for the time before the batch.
  const [first = 0, last = 0] = [instants[0], instants.at(-1)]
  const counted = instants.filter((instant) => instant > first + TOGETHER_MS)
  return counted.length === 0 ? 0 : (counted.length * 1_000) / (last - first)
}

/** Milliseconds until answers were normal after the load. */
function recoveryOf(answered: readonly Answered[]): number {
  const bad = answered.filter(({ status, latency }) => status !== 200 || latency > NORMAL_MS)
  const over = bad.map(({ dueAt, latency }) => dueAt + Math.min(latency, AFTERWARDS_MS) - endsAt)
  return Math.max(0, ...over)
}
