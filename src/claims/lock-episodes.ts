import { AuthenticationFault } from '../listing/faults.ts'

/** An episode ends when no call has met its lock for this long. */
const EPISODE_MS = 60_000
const EPISODES_MAX = 1_000

/**
 * Episodes in which one lock holds up the calls of a key. An episode begins with the first expired
 * call and ends when an engine decides the key again. Its calls share one fault, so that the log
 * has one line.
 */
export interface LockEpisodes {
  faultOf(apiKeyId: string): AuthenticationFault
  end(apiKeyId: string): void
}

export function createLockEpisodes(
  describe: (apiKeyId: string) => string,
  now: () => number,
): LockEpisodes {
  const episodes = new Map<string, { fault: AuthenticationFault; metAt: number }>()
  return {
    faultOf(apiKeyId) {
      const before = episodes.get(apiKeyId)
      const isOver = before === undefined || now() - before.metAt > EPISODE_MS
      const fault = isOver ? lastingFault(describe(apiKeyId)) : before.fault
      episodes.delete(apiKeyId)
      // Maps keep the order of insertion, so the first one is the one that was met least recently.
      if (episodes.size >= EPISODES_MAX) episodes.delete(episodes.keys().next().value!)
      episodes.set(apiKeyId, { fault, metAt: now() })
      return fault
    },

    end(apiKeyId) {
      if (episodes.size > 0) episodes.delete(apiKeyId)
    },
  }
}

function lastingFault(message: string): AuthenticationFault {
  const fault = new AuthenticationFault(message)
  fault.isLasting = true
  return fault
}
