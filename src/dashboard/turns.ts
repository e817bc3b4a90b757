import { setTimeout as delay } from 'node:timers/promises'
import type { Instant } from '../listing/instant.ts'

export type Act = 'page' | 'write'

/** What one person may ask for: so many a second, and so many at once after a rest. */
export const BUDGETS: Record<Act, { perSecond: number; burst: number }> = {
  page: { perSecond: 10, burst: 40 },
  write: { perSecond: 2, burst: 30 },
}
/** Requests of one person that wait for the one that is being answered. */
export const WAITING_MAX = 20
/** People who are remembered. Of more, those who ask for nothing now are forgotten. */
const LINES_MAX = 10_000

export interface Turns {
  /**
   * Waits until it is this person's turn. Null where too many wait already: nothing is done for that request.
   */
  take(person: string, act: Act): Promise<Turn | null>
}

export interface Turn {
  /** Whether time has passed, in which what was known may have changed. */
  waited: boolean
  end(): void
}

interface Line {
  /** Requests that wait, and the one whose turn it is. */
  length: number
  last: Promise<void>
  budgets: Record<Act, Budget>
}

interface Budget {
  left: number
  since: Instant
}

/**
 * One request of a person after the other, and no more than their budget: pages and writes of the dashboard are made
 * on the event loop that the API is answered on. In memory, so each process counts for itself.
 */
export function createTurns(now: () => Instant): Turns {
  const lines = new Map<string, Line>()

  function lineOf(person: string): Line {
    const known = lines.get(person)
    if (known !== undefined) return known
    if (lines.size >= LINES_MAX)
      for (const [other, { length }] of lines) if (length === 0) lines.delete(other)
    const budgets = {
      page: { left: BUDGETS.page.burst, since: now() },
      write: { left: BUDGETS.write.burst, since: now() },
    }
    const line = { length: 0, last: Promise.resolve(), budgets }
    lines.set(person, line)
    return line
  }

  return {
    async take(person, act) {
      const line = lineOf(person)
      if (line.length > WAITING_MAX) return null
      line.length += 1
      let waited = line.length > 1
      const before = line.last
      const { promise, resolve } = Promise.withResolvers<void>()
      line.last = promise
      await before
      for (;;) {
        const wait = spend(line.budgets[act], BUDGETS[act], now())
        if (wait === 0) break
        waited = true
        await delay(wait)
      }
      return {
        waited,
        end() {
          line.length -= 1
          resolve()
        },
      }
    },
  }
}

/** Takes one from the budget; else returns the milliseconds until there is one. */
function spend(
  budget: Budget,
  { perSecond, burst }: { perSecond: number; burst: number },
  now: Instant,
): number {
  // A clock that is set back gives nothing and takes nothing.
  const passed = Math.max(0, now - budget.since) / 1_000_000
  budget.left = Math.min(burst, budget.left + passed * perSecond)
  budget.since = now
  if (budget.left < 1) return Math.ceil(((1 - budget.left) / perSecond) * 1_000)
  budget.left -= 1
  return 0
}
