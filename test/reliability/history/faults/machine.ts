import type { Ends } from '../battlefield/ends.ts'
import { canSetClocks, makeClock, type ProgramClock } from './set-clock.ts'
import { canMountDisks, mountSmallDisk, type SmallDisk } from './small-disk.ts'

/**
 * What belongs to the machine and fails with it: the clocks of the services, and the disk of their
 * database.
 */
export interface Machine {
  makeClock: () => ProgramClock
  disk: SmallDisk
}

/** Names the missing tool for people; null if none is missing. */
export function missingForMachine(): string | null {
  if (!canSetClocks()) return 'libfaketime, which Debian has in a package of that name'
  if (!canMountDisks()) return 'the right to mount a file system, which root has'
  return null
}

/**
 * The machine lasts until everything on it has ended, so `t` must run the last registered end
 * first.
 */
export function makeMachine(t: Ends, diskMegabytes: number): Machine {
  return { makeClock: () => makeClock(t), disk: mountSmallDisk(t, diskMegabytes) }
}
