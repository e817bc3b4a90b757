import { readFileSync } from 'node:fs'
import { type Instant, presentInstant } from '../../model/instant.ts'

/** The engine's source of time. Tests pass a clock that they move by hand. */
export interface Clock {
  /**
   * Microseconds since the boot of the machine, on a clock that can't be set and that all processes
   * share.
   */
  monotonic(): number
  /** The wall clock, for `last_used_at`. It decides nothing. */
  present(): Instant
  /** The boot that the monotonic clock counts from; null if the system does not say. */
  bootId: string | null
}

export const systemClock: Clock = {
  monotonic: () => Number(process.hrtime.bigint() / 1000n),
  present: presentInstant,
  bootId: readBootId(),
}

export function readBootId(path = '/proc/sys/kernel/random/boot_id'): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}
