import { setTimeout as delay } from 'node:timers/promises'
import type { UseConnection } from '../../src/postgres/use-connection.ts'
import type { Uses } from '../../src/sqlite/uses.ts'

/** What a pace may be behind and still make good, in milliseconds: timers are late on a busy machine. */
const BEHIND_MS_MAX = 200

/** When the next batch may begin, so that so many calls are decided in a second. */
function createPace(perSecond: number) {
  let freeAt = 0
  return {
    isFree: () => performance.now() >= freeAt,
    /** How long a batch of this size has to take, in milliseconds. */
    take(calls: number): number {
      const now = performance.now()
      freeAt = Math.max(freeAt, now - BEHIND_MS_MAX) + (calls * 1_000) / perSecond
      return Math.max(0, freeAt - now)
    },
  }
}

/** The real act on SQLite behind a file that somebody else holds the lock of, for as long as each batch is to take. */
export function slowedUses(uses: Uses, perSecond: number): Uses {
  const pace = createPace(perSecond)
  return {
    ...uses,
    useTogether(calls) {
      if (!pace.isFree()) return null
      pace.take(calls.length)
      return uses.useTogether(calls)
    },
  }
}

/** The real connections to PostgreSQL, each of which takes its share of the calls. */
export function slowedConnections(
  connections: readonly UseConnection[],
  perSecond: number,
): UseConnection[] {
  return connections.map((connection) => {
    const pace = createPace(perSecond / connections.length)
    return {
      ...connection,
      async decide(calls) {
        const [outcomes] = await Promise.all([
          connection.decide(calls),
          delay(pace.take(calls.length)),
        ])
        return outcomes
      },
    }
  })
}
