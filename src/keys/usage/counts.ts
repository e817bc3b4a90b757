import type { KnownClaim } from '../../model/claim.ts'
import type { UseCount } from '../../model/use-counts.ts'
import { createKeyNumbers } from './key-numbers.ts'

/** Keys with a number. The chart misses requests of any other key until the next write. */
const COUNTED_MAX = 200_000
/** A write forgets more numbers than this, so that new keys find room. */
const KEPT_MAX = COUNTED_MAX / 2

/** The outcomes that are counted for a key, in the order of their columns. */
const OUTCOMES = ['granted', 'limited', 'revoked'] as const
const WIDTH = OUTCOMES.length

/**
 * The counts of many keys since the last write. Each key has a number, and the counts stand in an
 * array by that number.
 */
export interface Counts {
  /** Counts one claim. `slotNow` is read for a key's first one since the last write. */
  add(claim: KnownClaim, slotNow: () => number): void
  /** Adds what could not be written. */
  addAll(counts: Iterable<UseCount>): void
  get(apiKeyId: string): UseCount | null
  /** Takes all counts out, in the order of their keys. */
  take(): Generator<UseCount, void>
}

/** Counts by the number of their key. A key without a request since the last write has zeros. */
interface Columns {
  ids: readonly string[]
  slots: Float64Array
  values: Uint32Array
}

export function createCounts(): Counts {
  let numbers = createKeyNumbers(COUNTED_MAX)
  const slots = new Float64Array(COUNTED_MAX)
  const values = new Uint32Array(WIDTH * COUNTED_MAX)
  // Places outlive these numbers and must not keep them in memory.
  let owner = {}

  function forgetNumbers(): void {
    numbers = createKeyNumbers(COUNTED_MAX)
    owner = {}
  }

  return {
    add({ apiKeyId, outcome, countPlace }, slotNow) {
      const isPlaced = countPlace?.owner === owner
      const number = isPlaced ? countPlace.number : numbers.assign(apiKeyId)
      if (number === undefined) return
      if (!isCounted(values, number)) slots[number] = slotNow()
      values[WIDTH * number + OUTCOMES.indexOf(outcome)]! += 1
      if (isPlaced || countPlace === undefined) return
      countPlace.owner = owner
      countPlace.number = number
    },

    addAll(unwritten) {
      for (const { api_key_id, slot, answered, limited, revoked } of unwritten) {
        const number = numbers.assign(api_key_id)
        if (number === undefined) continue
        if (!isCounted(values, number)) slots[number] = slot
        values[WIDTH * number]! += answered
        values[WIDTH * number + 1]! += limited
        values[WIDTH * number + 2]! += revoked
      }
    },

    get(apiKeyId) {
      const number = numbers.find(apiKeyId)
      if (number === undefined || !isCounted(values, number)) return null
      return countOf({ ids: numbers.ids, slots, values }, number)
    },

    take() {
      const { ids } = numbers
      const size = ids.length
      const taken = { ids, slots: slots.slice(0, size), values: values.slice(0, WIDTH * size) }
      values.fill(0, 0, WIDTH * size)
      const counted = countedIn(taken)
      // The keys of the last minute are usually those of the next one.
      if (size > KEPT_MAX || counted.length < size / 2) forgetNumbers()
      return inOrderOfKeys(taken, counted)
    },
  }
}

function isCounted(values: Uint32Array, number: number): boolean {
  const at = WIDTH * number
  return values[at]! + values[at + 1]! + values[at + 2]! > 0
}

function countOf({ ids, slots, values }: Columns, number: number): UseCount {
  const [answered, limited, revoked] = values.subarray(WIDTH * number, WIDTH * (number + 1))
  return {
    api_key_id: ids[number]!,
    slot: slots[number]!,
    answered: answered!,
    limited: limited!,
    revoked: revoked!,
  }
}

function countedIn(columns: Columns): number[] {
  const numbers: number[] = []
  for (let number = 0; number < columns.ids.length; number += 1)
    if (isCounted(columns.values, number)) numbers.push(number)
  return numbers
}

/** Characters of an id that form a group. Sorting all counts at once would block the event loop. */
const GROUP_BY = 2

function* inOrderOfKeys(columns: Columns, numbers: number[]): Generator<UseCount, void> {
  const { ids } = columns
  const groups = Map.groupBy(numbers, (number) => ids[number]!.slice(0, GROUP_BY))
  for (const start of [...groups.keys()].toSorted())
    for (const number of groups.get(start)!.toSorted((a, b) => (ids[a]! < ids[b]! ? -1 : 1)))
      yield countOf(columns, number)
}
