import { PerformanceObserver } from 'node:perf_hooks'
import { startTestService } from '../../fixtures/service.ts'
import { addKeys } from './keys.ts'

/*
 * A service with `process.argv[2]` keys, whose clock moves when it is told to. It reports what its
 * heap holds, and how often that was collected.
 */

let collections = 0
new PerformanceObserver((list) => {
  collections += list.getEntries().length
}).observe({ entryTypes: ['gc'] })

const { port, store, clock } = await startTestService({ after: () => {} })
const keys = await addKeys(store, Number(process.argv[2]))
process.on('message', (message) => {
  if (message === 'elapse') clock.elapse(1_000)
  if (message === 'collect') globalThis.gc!()
  // An observer hears of a collection in a later turn.
  setTimeout(() => process.send!({ heap: process.memoryUsage().heapUsed, collections }), 20)
})
process.send!({ port, keys })
