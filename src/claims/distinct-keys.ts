import type { Arrival, Waiting } from './call.ts'
import { wordOf } from './key-cache.ts'

/** Gathers calls by their keys, for one batch at a time. */
export interface DistinctKeys {
  /**
   * The keys that are due and those of the calls in line, each once, and how many calls the batch
   * takes. The callers of a key that is due come first.
   */
  of(due: readonly Waiting[], line: readonly Arrival[]): { batch: Waiting[]; count: number }
}

/**
 * A hash table of the places in a batch costs a fraction of a Map, which leaves garbage whenever it
 * grows or shrinks.
 */
export function createDistinctKeys(batchMax: number): DistinctKeys {
  // At least half of the places stay free, so that a search passes few.
  const places = new Uint16Array(2 ** Math.ceil(Math.log2(2 * batchMax)))
  const mask = places.length - 1

  /** The place of this hash, with its index in the batch plus one, or the free one for it. */
  function placeOf(batch: readonly Waiting[], keyHash: Uint8Array): number {
    let place = wordOf(keyHash, 0) & mask
    for (; places[place] !== 0; place = (place + 1) & mask)
      if (Buffer.compare(batch[places[place]! - 1]!.keyHash, keyHash) === 0) break
    return place
  }

  return {
    of(due, line) {
      places.fill(0)
      const batch: Waiting[] = []
      for (const key of due) {
        const place = placeOf(batch, key.keyHash)
        const index = places[place]!
        if (index === 0) places[place] = batch.push(key)
        else batch[index - 1]!.callers.push(...key.callers)
      }
      let count = 0
      for (; count < line.length; count += 1) {
        const call = line[count]!
        const place = placeOf(batch, call.keyHash)
        const index = places[place]!
        if (index !== 0) batch[index - 1]!.callers.push(call)
        else if (batch.length === batchMax) break
        else {
          const { keyHash, listings } = call
          places[place] = batch.push({ keyHash, listings, callers: [call], busy: null })
        }
      }
      return { batch, count }
    },
  }
}
