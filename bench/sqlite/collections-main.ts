import { renameSync, writeFileSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import type { Collections } from './collections.ts'

/*
 * A service loads this file first. After each SIGUSR2 it writes to the file COLLECTIONS how often
 * and how long collections of garbage have stopped it since the last signal.
 */

const path = process.env.COLLECTIONS!
let since = performance.now()
let durations: number[] = []

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) durations.push(duration)
}).observe({ entryTypes: ['gc'] })

process.on('SIGUSR2', () => {
  const seen: Collections = { milliseconds: performance.now() - since, durations }
  writeFileSync(`${path}.new`, JSON.stringify(seen))
  renameSync(`${path}.new`, path)
  since = performance.now()
  durations = []
})
