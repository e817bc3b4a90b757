import { readdirSync, readFileSync } from 'node:fs'

/*
 * What Linux tells about processes and processors in /proc.
 */

/** Linux reports CPU time to programs in hundredths of a second. */
const TICKS_PER_SECOND = 100

/** CPU time of all threads of a process so far, in seconds. */
export function cpuSecondsOf(pid: number): number {
  return sum(statOf(pid).slice(11, 13)) / TICKS_PER_SECOND
}

/** CPU time so far of a process and its children, including those that have ended. */
export function cpuSecondsOfFamily(pid: number): number {
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== pid)
  const children = others.map((name) => statOf(Number(name))).filter((stat) => stat[1] === pid)
  const ticks = [statOf(pid).slice(11, 15), ...children.map((stat) => stat.slice(11, 13))]
  return sum(ticks.map(sum)) / TICKS_PER_SECOND
}

/** Resident memory (VmRSS) in MiB. */
export function residentMbOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/**
 * Begins to watch the stolen time. The returned function tells its share of all processors' time
 * since then. A hypervisor steals time when it gives a processor that this machine needs to another
 * machine. 0 if the kernel does not count it.
 */
export function watchStolen(): () => number {
  const before = processorTimes()
  return () => {
    const times = processorTimes().map((time, index) => time - before[index]!)
    return (times[7] ?? 0) / Math.max(1, sum(times))
  }
}

function processorTimes(): number[] {
  // "cpu", then user, nice, system, idle, iowait, irq, softirq, steal. User and nice include the
  // columns after those.
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!
  return line.trim().split(/ +/).slice(1, 9).map(Number)
}

/**
 * The fields of a process after its name, which may contain spaces. The parent is at 1; utime,
 * stime and the same of ended children begin at 11. Empty if the process has ended.
 */
function statOf(pid: number): number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
  } catch {
    return []
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
