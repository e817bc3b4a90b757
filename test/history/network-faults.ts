import { setTimeout as delay } from 'node:timers/promises'
import type { TcpProxy } from '../fixtures/tcp-proxy.ts'
import type { Fault } from './nemesis.ts'

/** Between one process and its database. */
export function networkFaults(proxy: TcpProxy): Record<string, Fault> {
  return {
    async 'network cut'(random) {
      proxy.cutAfter(Math.floor(random.between(0, 2_000)))
      await delay(random.between(50, 400))
      proxy.heal()
    },

    async 'network silent'(random) {
      proxy.swallow()
      await delay(random.between(100, 2_000))
      proxy.heal()
    },

    /** By less than a request waits, or by more. */
    async 'network slow'(random) {
      proxy.slowDown(random.between(5, 700))
      await delay(random.between(100, 1_500))
      proxy.heal()
    },

    async 'connections reset'() {
      proxy.reset()
    },

    async 'connections half closed'(random) {
      proxy.halfClose(random.pick(['there', 'back']))
    },
  }
}
