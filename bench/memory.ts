import type { Bench } from './bench.ts'

/** A driver that answers less than this in a round is not going to get anywhere. */
const ROUNDS_MAX = 1_000

/** Loads both servers until each has answered the number of requests, and compares what they hold then. */
export async function measureMemory(bench: Bench): Promise<number> {
  const { requests, seconds } = bench.settings
  bench.print('resident memory')
  for (const subject of [bench.bare, bench.service]) {
    for (let round = 0; round < ROUNDS_MAX && subject.answered < requests; round += 1)
      await bench.askAtOnce(subject, seconds)
    const resident = `${subject.residentMb().toFixed(1).padStart(7)} MiB`
    bench.print(`  ${subject.name.padEnd(7)} ${resident} after ${subject.answered} requests`)
  }
  return bench.service.residentMb() - bench.bare.residentMb()
}
