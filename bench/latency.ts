import type { Bench } from './bench.ts'
import { median } from './median.ts'
import type { Subject } from './subject.ts'

/** How long the service is asked at once before each round: what the machine gives changes from minute to minute. */
const PEAK_SECONDS = 2

/**
 * Both servers in turn at half of the rate that the service reached just before, when it was asked at once. What counts
 * is the median of the rounds' p99.
 */
export async function measureLatency(bench: Bench): Promise<number> {
  const { rounds, seconds } = bench.settings
  bench.print('latency at half of the peak rate, in ms from the moment each request was due')
  bench.print('  round           rate       p50       p99     p99.9   not 200   unanswered')
  const p99s = new Map<Subject, number[]>([
    [bench.bare, []],
    [bench.service, []],
  ])
  for (let round = 1; round <= rounds; round += 1) {
    const peak = await bench.askAtOnce(bench.service, PEAK_SECONDS)
    const rate = Math.round(peak.ok / peak.seconds / 2)
    for (const subject of [bench.bare, bench.service]) {
      const seen = await bench.askAtRate(subject, rate, seconds)
      const { p50, p99, p999, other, unanswered } = seen
      const percentiles = [p50, p99, p999].map((value) => value.toFixed(2).padStart(10))
      const counts = [String(other).padStart(10), String(unanswered).padStart(13)]
      const name = `${String(round).padStart(7)}  ${subject.name.padEnd(7)}`
      bench.print([name, String(rate).padStart(7), ...percentiles, ...counts].join(''))
      p99s.get(subject)!.push(p99)
    }
  }
  const [bare, service] = [median(p99s.get(bench.bare)!), median(p99s.get(bench.service)!)]
  bench.print(`  median p99: bare ${bare.toFixed(2)}, service ${service.toFixed(2)}`)
  return service
}
