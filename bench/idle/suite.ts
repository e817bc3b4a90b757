import { setTimeout as delay } from 'node:timers/promises'
import { printInterval } from '../bootstrap.ts'
import { chooseDriver } from '../load/driver.ts'
import { cpuSecondsOf, watchStolen } from '../proc.ts'
import { median, runRounds } from '../rounds.ts'
import { askAtRate, type Keys, openService, type Scene } from '../scene.ts'
import type { Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import { holdSockets } from './sockets.ts'

const SOCKETS = 2_000
/** Good requests per second. At this low rate queues do not decide the p99. */
const RATE = 1_000
/**
 * Seconds of good traffic in one round. The first second does not count. The service ends such
 * sockets after ten seconds.
 */
const SECONDS = 4
/** Time for the service to accept the sockets, or to clean up after the previous ones. */
const SETTLE_MS = 500
/** Limit of attempts for calm pairs, as a multiple of the wanted number of pairs. */
const TRIES = 2

interface Bench extends Scene {
  service: Subject
  keys: Keys
}

/** The p99 of each counted second, without the sockets and beside them. */
interface Pair {
  without: readonly number[]
  beside: readonly number[]
}

export async function measureIdle(scene: Scene): Promise<Result[]> {
  const bench = { ...scene, ...(await openService(scene)) }
  // V8 still compiles the service in these rounds.
  await (await chooseDriver(scene, bench.keys)).run(bench.service, scene.settings.seconds)
  for (const sockets of [0, SOCKETS]) await measureRound(bench, sockets)
  const { shift, failed, closed } = await measurePairs(bench)
  return [
    ['p99 of good traffic, beside 2,000 idle or trickling sockets / without', shift, '≤ 1.2'],
    ['requests of good traffic without a 200', failed, '≤ 0'],
    ['idle or trickling sockets that the service closed within their round', closed, '≤ 0'],
  ]
}

/**
 * Many short pairs of rounds. Every other pair begins with the sockets, so that both kinds meet the
 * same machine.
 */
async function measurePairs(bench: Bench) {
  const pairs = new Map<object, Pair>()
  let [failed, closed] = [0, 0]
  const counted = await runRounds({
    title: `${RATE} requests per second, without ${SOCKETS} sockets and beside them; ms, and µs of CPU per request`,
    // An even number, so that both orders are equally frequent.
    count: 2 * bench.settings.rounds,
    tries: TRIES,
    async measure(number) {
      const first = number % 2 === 0 ? await measureRound(bench, SOCKETS) : null
      const without = await measureRound(bench, 0)
      const beside = first ?? (await measureRound(bench, SOCKETS))
      const row = {
        p50: median(without.p50),
        'p50 beside': median(beside.p50),
        p99: median(without.p99),
        'p99 beside': median(beside.p99),
        CPU: without.cpu,
        'CPU beside': beside.cpu,
        'not 200': without.failed + beside.failed,
        closed: without.closed + beside.closed,
        stolen: Math.max(without.stolen, beside.stolen),
      }
      pairs.set(row, { without: without.p99, beside: beside.p99 })
      failed += row['not 200']
      closed += row.closed
      return row
    },
  })
  return { shift: shiftOf(counted.map((row) => pairs.get(row)!)), failed, closed }
}

/** Sends good traffic beside this many idle sockets. With 0 sockets the steps are the same. */
async function measureRound(bench: Bench, sockets: number) {
  const { service, keys } = bench
  const letGo = await holdSockets(bench.children, service.port, sockets)
  await delay(SETTLE_MS)
  const readStolen = watchStolen()
  const before = cpuSecondsOf(service.pid)
  const pace = { rate: RATE, seconds: SECONDS, uncountedSeconds: 1 }
  const { eachSecond, ok, other, unanswered } = await askAtRate(bench, service, keys, pace)
  const [cpu, stolen] = [cpuSecondsOf(service.pid) - before, readStolen()]
  return {
    p50: eachSecond.map(({ p50 }) => p50),
    p99: eachSecond.map(({ p99 }) => p99),
    cpu: (cpu * 1e6) / (ok + other),
    failed: other + unanswered,
    closed: await letGo(),
    stolen,
  }
}

/**
 * Compares the median p99 of all seconds of either kind: a stall of the machine then spoils only
 * one second.
 */
function shiftOf(pairs: readonly Pair[]): number {
  const ratioOf = (some: readonly Pair[]) =>
    median(some.flatMap(({ beside }) => beside)) / median(some.flatMap(({ without }) => without))
  return printInterval('ratio', pairs, ratioOf)
}
