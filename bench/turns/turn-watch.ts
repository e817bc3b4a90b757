const INTERVAL_MS = 1

/**
 * Watches how much CPU time this thread spends between two ticks of a timer. A tick waits until the
 * turn under way has ended. The largest difference is the longest turn, and at most INTERVAL_MS
 * more. Other processes do not count, however busy the machine is.
 */
export function watchTurns(): { takeLongest(): number } {
  let longest = 0
  let last = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }, INTERVAL_MS)
  return {
    /** In milliseconds. Forgets it. */
    takeLongest() {
      const taken = longest
      longest = 0
      return taken
    },
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
