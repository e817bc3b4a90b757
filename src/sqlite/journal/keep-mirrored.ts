import { createEpisodes } from '../../log/episodes.ts'
import { AuthenticationFault } from '../../model/faults.ts'
import type { ManagementConnection } from '../management-connection.ts'
import type { Mirror } from './mirror.ts'

/** How long the journal may lack what another program has listed, in milliseconds. */
const INTERVAL_MS = 500

/**
 * Mirrors what other programs list, and unites a file that was restored under a serving process.
 * `onFault` gets one error per episode in which that fails.
 */
export function keepMirrored(
  connection: Pick<ManagementConnection, 'flush'>,
  mirror: Pick<Mirror, 'isUnited'>,
  onFault: (fault: unknown) => void,
) {
  let underWay: Promise<void> | null = null
  let failed: AuthenticationFault | null = null
  const failing = createEpisodes(onFault)

  function flush(): Promise<void> {
    underWay ??= connection
      .flush()
      .then(() => {
        failed = null
        failing.end()
      }, noteFailure)
      .finally(() => {
        underWay = null
      })
    return underWay
  }

  function noteFailure(cause: unknown): void {
    // The watch of the files has reported its own.
    if (!(cause instanceof AuthenticationFault)) failing.meet(() => cause)
    failed ??= new AuthenticationFault(
      'the database file was restored, and could not be united with its journal of revocations',
      { cause },
    )
  }

  const timer = setInterval(() => void flush(), INTERVAL_MS).unref()

  return {
    /**
     * Whether claims may be decided in the file with this version of the schema. If not, the union
     * with the journal is under way. Throws the fault if the last one has failed.
     */
    isUnited(schema: number): boolean {
      if (mirror.isUnited(schema)) return true
      // The timer tries again.
      if (failed !== null) throw failed
      void flush()
      return false
    },

    /** Mirrors what was listed until now. */
    async close(): Promise<void> {
      clearInterval(timer)
      await underWay
      await flush()
    },
  }
}
