import { readFileSync } from 'node:fs'

/** A round in which more than this share of the processors' time was given to other machines tells of those. */
const STOLEN_MAX = 0.03

/** What was measured while this share of the processors' time was stolen. */
export interface Timed {
  stolen: number
}

export function isCalm({ stolen }: Timed): boolean {
  return stolen <= STOLEN_MAX
}

/** What was measured in calm rounds, or all of it where none was calm. */
export function calmOf<T extends Timed>(all: readonly T[]): readonly T[] {
  const calm = all.filter(isCalm)
  return calm.length > 0 ? calm : all
}

/** For the end of a round's row. */
export function stolenColumn(timed: Timed): string {
  const share = `${(timed.stolen * 100).toFixed(1).padStart(7)} %`
  return isCalm(timed) ? share : `${share}  not calm`
}

/**
 * The share of all processors' time from the call until the returned function is called that this machine, if it is a
 * virtual one, wanted and did not get: what lies beneath gave it to others. 0 where nobody counts it.
 */
export function watchStolen(): () => number {
  const before = readTimes()
  return () => {
    const after = readTimes()
    return (after.stolen - before.stolen) / Math.max(1, after.all - before.all)
  }
}

function readTimes(): { stolen: number; all: number } {
  // "cpu", then user, nice, system, idle, iowait, irq, softirq, steal; what follows is in user already.
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!
  const times = line.trim().split(/ +/).slice(1, 9).map(Number)
  return { stolen: times[7] ?? 0, all: times.reduce((sum, time) => sum + time, 0) }
}
