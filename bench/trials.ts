import { type Bench, openBench, type Settings } from './bench.ts'
import type { Children } from './children.ts'
import { measureLatency } from './latency.ts'
import { measureMemory } from './memory.ts'
import { measureThroughput } from './throughput.ts'

/** One thing that is measured, and what it has to be. */
export interface Trial<Scene> {
  /** What the value is, in one line. */
  description: string
  target: Target
  measure(scene: Scene): Promise<number>
}

export type Target =
  | { atLeast: number; unit: string }
  | { atMost: number; unit: string }
  | { below: number; unit: string }

/** A scene, and what is measured in it, in this order: later trials build on the load of the earlier ones. */
export interface Suite<Scene extends { close(): Promise<void> }> {
  open(
    children: Children,
    folder: string,
    settings: Settings,
    print: (line: string) => void,
  ): Promise<Scene>
  trials: readonly Trial<Scene>[]
}

export const SQLITE: Suite<Bench> = {
  open: openBench,
  trials: [
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
  ],
}

export function isMet(value: number, target: Target): boolean {
  if ('atLeast' in target) return value >= target.atLeast
  if ('atMost' in target) return value <= target.atMost
  return value < target.below
}
