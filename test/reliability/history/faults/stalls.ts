import { now } from '../record/record.ts'
import type { Scene } from '../traffic/scene.ts'

/** How often this process looks at the clock, and how late it may be, in milliseconds. */
const LOOK_MS = 20
const LATE_MS = 150
/** A batch that began while the machine stood still has ended by then. */
const AFTERMATH_MS = 1_500

/**
 * Records when the machine did not run this process. It did not run the services then, either. Such
 * a fault explains a 502 and a wait, but no 429.
 */
export function watchForStalls({ incidents }: Pick<Scene, 'incidents'>): { stop(): void } {
  let last = now()
  const timer = setInterval(() => {
    const present = now()
    if (present - last > (LOOK_MS + LATE_MS) * 1_000)
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
    last = present
  }, LOOK_MS)
  return { stop: () => clearInterval(timer) }
}
