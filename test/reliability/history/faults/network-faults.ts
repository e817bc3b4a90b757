import { setTimeout as delay } from 'node:timers/promises'
import type { TcpProxy } from '../../../fixtures/proxy/tcp-proxy.ts'
import { type Fault, SHORT_STAY, withEffect } from './fault.ts'

/**
 * A batch that begins right after the fault waits up to 1.5 s on a silent connection, and the calls
 * behind it wait for 0.8 s.
 */
export const NOTICED_MS = 2_500

/** Faults of the network between one process and its database. */
export function networkFaults(
  proxy: TcpProxy,
  process: number,
  stay = SHORT_STAY,
): Record<string, Fault> {
  const touched = { process }
  const failures = ['list', 'authentication'] as const
  return withEffect(
    { failures, aftermathMs: NOTICED_MS, orphans: true },
    {
      async 'network cut'(random) {
        proxy.cutAfter(Math.floor(random.between(0, 2_000)))
        await delay(stay(random, 50, 400))
        proxy.heal()
        return touched
      },

      async 'network silent'(random) {
        proxy.swallow()
        await delay(stay(random, 100, 2_000))
        proxy.heal()
        return touched
      },

      /** The delay is shorter or longer than a request waits. */
      async 'network slow'(random) {
        proxy.slowDown(random.between(5, 700))
        await delay(stay(random, 100, 1_500))
        proxy.heal()
        return touched
      },

      async 'connections reset'() {
        return proxy.reset() > 0 ? touched : null
      },

      async 'connections half closed'(random) {
        return proxy.halfClose(random.pick(['there', 'back'])) > 0 ? touched : null
      },
    },
  )
}
