import { readFileSync } from 'node:fs'
import { type Instant, presentInstant } from '../listing/instant.ts'

/** Where the engine gets time from. Tests pass one that they move by hand. */
export interface Clock {
  /** Microseconds on a clock that nobody can set, the same for all processes since the machine's boot. */
  monotonic(): number
  /** The wall clock, for `last_used_at`. It decides nothing. */
  present(): Instant
  /** Which boot the monotonic clock counts from; null where the system does not say. */
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
