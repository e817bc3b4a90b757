import { watchStolen } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { askAtRate } from '../scene.ts'
import type { Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import type { Bench } from './measured.ts'

/** Each round measures the peak rate again, because a machine's speed changes. */
const PEAK_SECONDS = 2
/** A slow machine falls behind while V8 compiles the load generator, and takes long to catch up. */
const UNCOUNTED_SECONDS = 3
/** Limit of rounds, as a multiple of the wanted number. */
const TRIES = 4
/** Loads as shares of the peak. The results are those at one half. */
const LOADS = [0.1, 0.25, 0.5, 0.75, 0.9]

/** The latency of both servers, at rates below what the service reached just before. */
export async function measureLatency(bench: Bench): Promise<Result[]> {
  const measured = new Map<number, Awaited<ReturnType<typeof measureLoad>>>()
  for (const load of LOADS) measured.set(load, await measureLoad(bench, load))
  const atHalf = measured.get(0.5)!
  const ratios = atHalf.map((round) => ({ ratio: round.p99 / round['bare p99'] }))
  return [
    ['p99 of the 200s at half of the peak rate', medianOf(atHalf, 'p99'), '< 10 ms'],
    ['p99 at half of the peak rate, service / bare node:http', medianOf(ratios, 'ratio'), '≤ 1.3'],
  ]
}

function measureLoad(bench: Bench, load: number) {
  const { settings, driver, bare, service, keys } = bench
  return runRounds({
    title: `latency at ${load * 100} % of the peak rate, in ms from the moment each request was due`,
    count: load === 0.5 ? settings.rounds : Math.ceil(settings.rounds / 3),
    tries: TRIES,
    async measure() {
      const peak = await driver.run(service, PEAK_SECONDS)
      const rate = Math.round((peak.ok / peak.seconds) * load)
      const seconds = UNCOUNTED_SECONDS + settings.seconds
      const pace = { rate, seconds, uncountedSeconds: UNCOUNTED_SECONDS }
      const ask = (subject: Subject) => askAtRate(bench, subject, keys, pace)
      const ofBare = await whileStopped(service, () => ask(bare))
      const readStolen = watchStolen()
      const seen = await whileStopped(bare, () => ask(service))
      return {
        rate,
        'bare p50': ofBare.p50,
        'bare p99': ofBare.p99,
        p50: seen.p50,
        p99: seen.p99,
        'p99.9': seen.p999,
        'not 200': seen.other,
        unanswered: seen.unanswered,
        'generator in %': 100 * Math.max(ofBare.busy, seen.busy),
        stolen: readStolen(),
      }
    },
  })
}

/** A server without load still collects garbage, which takes the processor from the other one. */
async function whileStopped<T>({ pid }: Subject, measure: () => Promise<T>): Promise<T> {
  process.kill(pid, 'SIGSTOP')
  try {
    return await measure()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}
