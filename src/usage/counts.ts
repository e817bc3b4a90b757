import type { KnownClaim } from '../listing/claim.ts'
import type { UseCount } from '../listing/use-counts.ts'

/** Keys counted between two writes. The chart misses requests of any other key. */
const COUNTED_MAX = 200_000

/** The outcomes that are counted for a key, in the order of their columns. */
const OUTCOMES = ['granted', 'limited', 'revoked'] as const
const WIDTH = OUTCOMES.length

/**
 * The counts of many keys since the last write. Each key has a number, and the counts stand in an
 * array by that number.
 */
export interface Counts {
  /** Counts one claim. `slotNow` is read for the first one of a key. */
  add(claim: KnownClaim, slotNow: () => number): void
  /** Adds what could not be written. */
  addAll(counts: Iterable<UseCount>): void
  get(apiKeyId: string): UseCount | null
  /** All counts, in the order of their keys. Nothing may be added meanwhile. */
  inOrderOfKeys(): Generator<UseCount, void>
}

export function createCounts(): Counts {
  const numbers = new Map<string, number>()
  const ids: string[] = []
  const slots = new Float64Array(COUNTED_MAX)
  const values = new Uint32Array(WIDTH * COUNTED_MAX)
  // Places outlive these counts and must not keep them in memory.
  const owner = {}

  function numberOf(apiKeyId: string, slotNow: () => number): number | undefined {
    const known = numbers.get(apiKeyId)
    if (known !== undefined || ids.length === COUNTED_MAX) return known
    const number = ids.length
    ids.push(apiKeyId)
    numbers.set(apiKeyId, number)
    slots[number] = slotNow()
    return number
  }

  function countOf(number: number): UseCount {
    const [answered, limited, revoked] = values.subarray(WIDTH * number, WIDTH * (number + 1))
    return {
      api_key_id: ids[number]!,
      slot: slots[number]!,
      answered: answered!,
      limited: limited!,
      revoked: revoked!,
    }
  }

  return {
    add({ apiKeyId, outcome, countPlace }, slotNow) {
      const isPlaced = countPlace?.owner === owner
      const number = isPlaced ? countPlace.number : numberOf(apiKeyId, slotNow)
      if (number === undefined) return
      values[WIDTH * number + OUTCOMES.indexOf(outcome)]! += 1
      if (isPlaced || countPlace === undefined) return
      countPlace.owner = owner
      countPlace.number = number
    },

    addAll(unwritten) {
      for (const { api_key_id, slot, answered, limited, revoked } of unwritten) {
        const number = numberOf(api_key_id, () => slot)
        if (number === undefined) continue
        values[WIDTH * number]! += answered
        values[WIDTH * number + 1]! += limited
        values[WIDTH * number + 2]! += revoked
      }
    },

    get(apiKeyId) {
      const number = numbers.get(apiKeyId)
      return number === undefined ? null : countOf(number)
    },

    *inOrderOfKeys() {
      const groups = Map.groupBy(ids.keys(), (number) => ids[number]!.slice(0, GROUP_BY))
      for (const start of [...groups.keys()].toSorted())
        for (const number of groups.get(start)!.toSorted((a, b) => (ids[a]! < ids[b]! ? -1 : 1)))
          yield countOf(number)
    },
  }
}

/** Characters of an id that form a group. Sorting all counts at once would block the event loop. */
const GROUP_BY = 2
