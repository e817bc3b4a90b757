import { createEpisodes } from '../../log/episodes.ts'
import type { AuthenticationFault } from '../../model/faults.ts'
import type { Clock } from '../claims/clock.ts'
import type { HeldFiles } from './held-files.ts'
import { createLogWatch } from './log-size.ts'

/**
 * No claim is granted later than this after a look at the files, in milliseconds. A process that
 * takes their place waits for as long.
 */
export const LOOK_MS = 200
/** Without a request, a look follows the last one after this time, in milliseconds. */
const INTERVAL_MS = 1_000

/**
 * Watches the files of a serving process: before claims are granted, after each change of the
 * dashboard, and at least once a second.
 */
export interface FileWatch {
  /**
   * The fault of the files at this instant of the monotonic clock, now by default; null if all were
   * in place at most LOOK_MS before. Looks again if the last look is older.
   */
  faultAt(monotonic?: number): AuthenticationFault | null
  /** Looks now and throws the fault, if any: the last write may be in a file that no path names. */
  confirm(): void
  close(): void
}

/** `onFault` gets one error per episode of lost files or of a write-ahead log that is too large. */
export function watchFiles(
  path: string,
  files: HeldFiles,
  clock: Clock,
  onFault: (fault: unknown) => void,
): FileWatch {
  const observeLog = createLogWatch(path, onFault)
  const lost = createEpisodes(onFault)
  let fault: AuthenticationFault | null = null
  let lookedAt = Number.NEGATIVE_INFINITY

  function look(): void {
    const now = clock.monotonic()
    const found = files.look()
    lookedAt = now
    if (found.fault === null) lost.end()
    else lost.meet(() => found.fault)
    // The same object while the reason stays, so that the log knows it.
    if (found.fault?.message !== fault?.message) fault = found.fault
    observeLog(found.logBytes)
  }

  look()
  const timer = setInterval(look, INTERVAL_MS).unref()

  return {
    faultAt(monotonic = clock.monotonic()) {
      if (monotonic - lookedAt > LOOK_MS * 1_000) look()
      return fault
    },

    confirm() {
      look()
      if (fault !== null) throw fault
    },

    close: () => clearInterval(timer),
  }
}
