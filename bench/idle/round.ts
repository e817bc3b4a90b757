import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import type { Children } from '../children.ts'
import { type Timed, watchStolen } from '../stolen.ts'
import { holdSockets } from './sockets.ts'

/** Good requests per second: few, so that p99 says what the service does and not how it is crowded. */
export const RATE = 1_000
/** Of good traffic in one round, the first of which does not count. The service ends the sockets after ten. */
const SECONDS = 4
/** In which the service takes the sockets, or is done with what letting go of the last ones left behind. */
const SETTLE_MS = 500

/** What good traffic met in one round. */
export interface Round extends Timed {
  /** Of each second that counts, in milliseconds from the moment each request was due. */
  p50: number[]
  p99: number[]
  /** What the service's threads used for each request, whatever they did with it, in microseconds. */
  cpu: number
  /** Requests that were not answered 200, or not at all. */
  failed: number
  /** Sockets that the service ended before the round was over. */
  ended: number
}

/** Holds so many sockets, perhaps none, and sends good traffic beside them: in either case the same is done. */
export async function measureRound(
  bench: Bench,
  children: Children,
  sockets: number,
): Promise<Round> {
  const { service } = bench
  const held = await holdSockets(children, service.port, sockets)
  await delay(SETTLE_MS)
  const readStolen = watchStolen()
  const before = service.cpuSeconds()
  const { eachSecond, ok, other, unanswered } = await bench.askAtRate(service, RATE, SECONDS)
  const cpu = ((service.cpuSeconds() - before) * 1e6) / (ok + other)
  const stolen = readStolen()
  const ended = await held.letGo()
  return {
    p50: eachSecond.map(({ p50 }) => p50),
    p99: eachSecond.map(({ p99 }) => p99),
    cpu,
    failed: other + unanswered,
    ended,
    stolen,
  }
}
