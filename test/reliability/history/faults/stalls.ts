import { setTimeout as delay } from 'node:timers/promises'
import { now } from '../record/record.ts'
import type { Scene } from '../traffic/scene.ts'

/** How often this process looks at the clock, and how late it may be, in milliseconds. */
const LOOK_MS = 20
const LATE_MS = 150
/** A batch that began while the machine stood still has ended by then. */
const AFTERMATH_MS = 1_500
/** On a machine that always stands still, the last period counts. */
const PERIODS_MAX = 20

export interface StallWatch {
  /**
   * Waits for a period in which the machine did not stand still, and returns its beginning. `msOf`
   * tells how long a period must be that begins at an instant.
   */
  calm(msOf: (from: number) => number): Promise<number>
  stop(): void
}

/**
 * Records when the machine did not run this process. It did not run the services then, either. Such
 * a fault explains a 502 and a wait, but no 429.
 */
export function watchForStalls({ incidents }: Pick<Scene, 'incidents'>): StallWatch {
  let last = now()
  let stalls = 0
  const timer = setInterval(look, LOOK_MS)

  function look(): void {
    const present = now()
    if (present - last > (LOOK_MS + LATE_MS) * 1_000) {
      stalls += 1
      incidents.push({
        fault: 'machine stood still',
        t0: last,
        t1: present,
        key: '',
        owner: '',
        process: 0,
        failures: ['list', 'authentication'],
        aftermath: AFTERMATH_MS * 1_000,
        orphans: false,
        stays: false,
      })
    }
    last = present
  }

  return {
    async calm(msOf) {
      for (let periods = 1; ; periods += 1) {
        const [from, before] = [now(), stalls]
        await delay(msOf(from))
        look()
        if (stalls === before || periods === PERIODS_MAX) return from
      }
    },
    stop: () => clearInterval(timer),
  }
}
