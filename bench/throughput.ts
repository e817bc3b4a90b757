import type { Bench } from './bench.ts'
import { median } from './median.ts'
import type { Subject } from './subject.ts'

/**
 * Rounds of the bare server and of the service in turn, so that both have the same share of whatever else goes on in
 * the machine. What counts is the median of the rounds' ratios.
 */
export async function measureThroughput(bench: Bench): Promise<number> {
  const { rounds, warmUpSeconds } = bench.settings
  for (const subject of [bench.bare, bench.service]) await bench.askAtOnce(subject, warmUpSeconds)

  bench.print(`200s per CPU second, under ${bench.driverName}`)
  bench.print('  round      bare   service   ratio   service per second   not 200')
  const ratios: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const bare = await measure(bench, bench.bare)
    const service = await measure(bench, bench.service)
    const ratio = service.perCpuSecond / bare.perCpuSecond
    ratios.push(ratio)
    const columns = [
      String(round).padStart(7),
      bare.perCpuSecond.toFixed(0).padStart(10),
      service.perCpuSecond.toFixed(0).padStart(10),
      ratio.toFixed(3).padStart(8),
      service.perSecond.toFixed(0).padStart(21),
      String(service.other).padStart(10),
    ]
    bench.print(columns.join(''))
  }
  return median(ratios)
}

async function measure(
  bench: Bench,
  subject: Subject,
): Promise<{ perCpuSecond: number; perSecond: number; other: number }> {
  const before = subject.cpuSeconds()
  const { ok, other, seconds } = await bench.askAtOnce(subject, bench.settings.seconds)
  const perCpuSecond = ok / (subject.cpuSeconds() - before)
  return { perCpuSecond, perSecond: ok / seconds, other }
}
