import type { Ends } from './ends.ts'
import { canSetClocks, makeClock, type SetClock } from './set-clock.ts'
import { canMountDisks, mountSmallDisk, type SmallDisk } from './small-disk.ts'

/** What belongs to the machine, and goes wrong with it: clocks and disks of the services' own, or of their server's. */
export interface Machine {
  makeClock: () => SetClock
  disk: SmallDisk
}

/** What is missing for it, for people; null where nothing is. */
export function missingForMachine(): string | null {
  if (!canSetClocks()) return 'libfaketime, which Debian has in a package of that name'
  if (!canMountDisks()) return 'the right to mount a file system, which root has'
  return null
}

/** It is there until whatever runs on it has ended: `t` is to end the last first. */
export function makeMachine(t: Ends, diskMegabytes: number): Machine {
  return { makeClock: () => makeClock(t), disk: mountSmallDisk(t, diskMegabytes) }
}
