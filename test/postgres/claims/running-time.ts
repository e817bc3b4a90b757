/** How often this process looks at the clock, and the longest pause in which it ran. */
const LOOK_MS = 20
const PAUSE_MAX_MS = 170

let total = 0
let last = performance.now()
let cpu = process.cpuUsage()

/**
 * Milliseconds for which the machine ran this process. Limits of the service hold for a machine
 * that runs. When it stands still, this clock goes on only by the time of the processor that the
 * process used: work that blocks the event loop counts.
 */
export function runningMs(): number {
  const present = performance.now()
  const pause = present - last
  const { user, system } = process.cpuUsage(cpu)
  total += pause <= PAUSE_MAX_MS ? pause : Math.min(pause, (user + system) / 1_000)
  last = present
  cpu = process.cpuUsage()
  return total
}

setInterval(runningMs, LOOK_MS).unref()
