import { readFileSync } from 'node:fs'

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
