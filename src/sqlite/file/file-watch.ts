import type { AuthenticationFault } from '../../listing/faults.ts'
import type { HeldFiles } from './held-files.ts'
import { createLogWatch } from './log-size.ts'
import type { Claims } from '../claims/claims.ts'

const INTERVAL_MS = 1_000

/**
 * Watches the files of a serving process once per second and after each change of the dashboard.
 */
export interface FileWatch {
  /** The fault that the last look found; null if all files are in place. */
  fault(): AuthenticationFault | null
  /** Looks now and throws the fault, if any: the last write may be in a file that no path names. */
  confirm(): Promise<void>
  close(): void
}

/** `onFault` gets one error per episode of lost files or of a write-ahead log that is too large. */
export function watchFiles(
  path: string,
  files: HeldFiles,
  onFault: (fault: unknown) => void,
): FileWatch {
  const observeLog = createLogWatch(path, onFault)
  let fault: AuthenticationFault | null = null
  let isClosed = false
  let begun = 0
  let applied = 0
  let timer = begin()

  function begin(): NodeJS.Timeout {
    return setTimeout(() => void lookAgain(), INTERVAL_MS).unref()
  }

  async function look(): Promise<void> {
    begun += 1
    const number = begun
    const found = await files.look()
    // A slow look may end after a later one, or after close has removed the log.
    if (isClosed || number < applied) return
    applied = number
    if (found.fault !== null && fault === null) onFault(found.fault)
    fault = found.fault
    observeLog(found.logBytes)
  }

  async function lookAgain(): Promise<void> {
    try {
      await look()
    } catch {
      // The system can't identify the files, so that the last result stays.
    }
    if (!isClosed) timer = begin()
  }

  return {
    fault: () => fault,

    async confirm() {
      await look()
      if (fault !== null) throw fault
    },

    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** The same claims, but all of them fail while files are lost. */
export function whileHeld(claims: Claims, watch: FileWatch): Claims {
  return {
    ...claims,
    claimBatch(calls) {
      const lost = watch.fault()
      return lost === null ? claims.claimBatch(calls) : calls.map(() => lost)
    },
  }
}
