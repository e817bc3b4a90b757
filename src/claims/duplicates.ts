import type { Call } from './call.ts'
import { wordOf } from './key-cache.ts'

/** The first call with each key, and for each call the index of the one with its key. */
export function withoutDuplicates(calls: readonly Call[]): {
  distinct: Call[]
  indexOf: number[]
} {
  const indexes = new Map<number, number>()
  const distinct: Call[] = []
  const indexOf = calls.map((call) => {
    // The beginning of the hash. Different hashes that begin alike get numbers in turn.
    for (let number = wordOf(call.keyHash, 0); ; number += 1) {
      const index = indexes.get(number)
      if (index === undefined) {
        indexes.set(number, distinct.length)
        return distinct.push(call) - 1
      }
      if (Buffer.compare(distinct[index]!.keyHash, call.keyHash) === 0) return index
    }
  })
  return { distinct, indexOf }
}
