import type { Bench } from './bench.ts'
import { median } from './median.ts'
import type { Latencies } from './open-loop.ts'
import { calmOf, isCalm, stolenColumn, type Timed, watchStolen } from './stolen.ts'
import type { Subject } from './subject.ts'

/** How long the service is asked at once before each round: what the machine gives changes from minute to minute. */
const PEAK_SECONDS = 2
/** So many times as many rounds as are wanted, at most, to get as many calm ones. */
const PATIENCE = 4

/** What one server did in one round. */
interface Measured extends Latencies, Timed {
  subject: Subject
}

/**
 * Both servers in turn at half of the rate that the service reached just before, when it was asked at once, until there
 * are as many calm rounds of the service as are wanted. What counts is the median of their p99.
 */
export async function measureLatency(bench: Bench): Promise<number> {
  const { rounds, seconds } = bench.settings
  bench.print('latency at half of the peak rate, in ms from the moment each request was due')
  bench.print(
    '  round           rate       p50       p99     p99.9   not 200   unanswered   stolen',
  )
  const all: Measured[] = []
  for (let round = 1; round <= rounds * PATIENCE; round += 1) {
    const peak = await bench.askAtOnce(bench.service, PEAK_SECONDS)
    const rate = Math.round(peak.ok / peak.seconds / 2)
    for (const subject of [bench.bare, bench.service]) {
      const readStolen = watchStolen()
      const latencies = await bench.askAtRate(subject, rate, seconds)
      const measured = { ...latencies, subject, stolen: readStolen() }
      bench.print(rowOf(round, rate, measured))
      all.push(measured)
    }
    if (all.filter((one) => one.subject === bench.service && isCalm(one)).length >= rounds) break
  }
  summarize(bench, bench.bare, all)
  return summarize(bench, bench.service, all)
}

function rowOf(round: number, rate: number, measured: Measured): string {
  const { subject, p50, p99, p999, other, unanswered } = measured
  return [
    `${String(round).padStart(7)}  ${subject.name.padEnd(7)}`,
    String(rate).padStart(7),
    ...[p50, p99, p999].map((milliseconds) => milliseconds.toFixed(2).padStart(10)),
    String(other).padStart(10),
    String(unanswered).padStart(13),
    stolenColumn(measured),
  ].join('')
}

function summarize(bench: Bench, subject: Subject, all: readonly Measured[]): number {
  const own = all.filter((one) => one.subject === subject)
  const [counted, ofAll] = [calmOf(own), own].map((rounds) =>
    median(rounds.map(({ p99 }) => p99)),
  ) as [number, number]
  const calm = `${counted.toFixed(2)} in ${own.filter(isCalm).length} calm rounds`
  bench.print(`  median p99 of ${subject.name}: ${calm}, ${ofAll.toFixed(2)} in all ${own.length}`)
  return counted
}
