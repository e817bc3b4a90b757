import type { KnownClaim } from '../../model/claim.ts'
import type { UsageCount } from '../../model/usage-counts.ts'

/** Keys with a count. The chart misses requests of any other key until the next write. */
const COUNTED_MAX = 200_000

/** The column that counts an outcome. */
const COLUMNS = { granted: 'answered', limited: 'limited', revoked: 'revoked' } as const

/** The counts of many keys since the last write. */
export interface Counts {
  /** Counts one claim. `slotNow` is read for a key's first one since the last write. */
  add(claim: KnownClaim, slotNow: () => number): void
  /** Adds what could not be written. */
  addAll(counts: Iterable<UsageCount>): void
  get(apiKeyId: string): UsageCount | null
  /** Takes all counts out, in the order of their keys. */
  take(): Generator<UsageCount, void>
}

export function createCounts(): Counts {
  let counted = new Map<string, UsageCount>()

  function countOf(api_key_id: string, slotNow: () => number): UsageCount | undefined {
    const known = counted.get(api_key_id)
    if (known !== undefined || counted.size === COUNTED_MAX) return known
    const fresh = { api_key_id, slot: slotNow(), answered: 0, limited: 0, revoked: 0 }
    counted.set(api_key_id, fresh)
    return fresh
  }

  return {
    add({ apiKeyId, outcome }, slotNow) {
      const count = countOf(apiKeyId, slotNow)
      if (count !== undefined) count[COLUMNS[outcome]] += 1
    },

    addAll(unwritten) {
      for (const { api_key_id, slot, answered, limited, revoked } of unwritten) {
        const count = countOf(api_key_id, () => slot)
        if (count === undefined) continue
        count.answered += answered
        count.limited += limited
        count.revoked += revoked
      }
    },

    get: (apiKeyId) => counted.get(apiKeyId) ?? null,

    take() {
      const taken = counted
      counted = new Map()
      return inOrderOfKeys(taken)
    },
  }
}

/** Characters of an id that form a group. Sorting all counts at once would block the event loop. */
const GROUP_BY = 2

function* inOrderOfKeys(counted: ReadonlyMap<string, UsageCount>): Generator<UsageCount, void> {
  const groups = Map.groupBy(counted.values(), (count) => count.api_key_id.slice(0, GROUP_BY))
  for (const start of [...groups.keys()].toSorted())
    yield* groups.get(start)!.toSorted((a, b) => (a.api_key_id < b.api_key_id ? -1 : 1))
}
