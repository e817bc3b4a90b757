import type { Bench } from './bench.ts'
import { measureLatency } from './latency.ts'
import { measureMemory } from './memory.ts'
import { measureThroughput } from './throughput.ts'

/** One thing that is measured, and what it has to be. */
export interface Trial {
  /** What the value is, in one line. */
  description: string
  target: Target
  measure(bench: Bench): Promise<number>
}

export type Target =
  | { atLeast: number; unit: string }
  | { atMost: number; unit: string }
  | { below: number; unit: string }

/** In the order in which they are run: later ones build on the load of the earlier ones. */
export const TRIALS: readonly Trial[] = [
  {
    description: 'authenticated 200s per CPU second, service / bare node:http',
    target: { atLeast: 0.4, unit: '' },
    measure: measureThroughput,
  },
  {
    description: 'p99 latency of the 200s at half of the peak rate',
    target: { below: 10, unit: ' ms' },
    measure: measureLatency,
  },
  {
    description: 'resident memory after a million requests, service - bare node:http',
    target: { atMost: 128, unit: ' MiB' },
    measure: measureMemory,
  },
]

export function isMet(value: number, target: Target): boolean {
  if ('atLeast' in target) return value >= target.atLeast
  if ('atMost' in target) return value <= target.atMost
  return value < target.below
}
