import type { ServerEntry } from './server-entry.ts'

/** The entries of an import, in parts that can be planned one after another. */
export interface ImportParts {
  /**
   * The positions of the next entries, in order: as many as asked for, and those related to them.
   * Empty after the last part.
   */
  next(entriesMax: number): number[]
  /** Whether an entry of the import has this slug. */
  hasSlug(slug: string): boolean
}

/**
 * Splits the entries of an import. Entries with one slug or one address can mean the same server,
 * so they are related and stay in one part.
 */
export function createParts(entries: readonly ServerEntry[]): ImportParts {
  const related = createRelations(entries.length)
  const [bySlug, byAddress] = [new Map<string, number>(), new Map<string, number>()]
  for (const [position, { slug, address }] of entries.entries()) {
    related.join(firstOf(byAddress, address, position), position)
    if (slug) related.join(firstOf(bySlug, slug, position), position)
  }
  const order = related.inOrder()
  let start = 0
  return {
    next(entriesMax) {
      let end = Math.min(start + entriesMax, order.length)
      while (end > start && end < order.length && related.has(order[end - 1]!, order[end]!))
        end += 1
      const part = order.subarray(start, end).toSorted()
      start = end
      return [...part]
    },
    hasSlug: (slug) => bySlug.has(slug),
  }
}

function firstOf(positions: Map<string, number>, value: string, position: number): number {
  const first = positions.get(value)
  if (first === undefined) positions.set(value, position)
  return first ?? position
}

/** Sets of related positions (union-find). The first position of a set stands for it. */
function createRelations(size: number) {
  const parents = Uint32Array.from({ length: size }, (_, position) => position)
  let isJoined = false
  const firstIn = (position: number): number => {
    let at = position
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!
      at = parents[at]!
    }
    return at
  }
  return {
    has: (one: number, other: number) => firstIn(one) === firstIn(other),
    join(one: number, other: number) {
      if (one === other) return
      isJoined = true
      const [first, second] = [firstIn(one), firstIn(other)]
      parents[Math.max(first, second)] = Math.min(first, second)
    },
    /** All positions, with each set together. */
    inOrder(): Uint32Array {
      const positions = Uint32Array.from({ length: size }, (_, position) => position)
      if (!isJoined) return positions
      const firsts = positions.map(firstIn)
      return positions.toSorted((one, other) => firsts[one]! - firsts[other]! || one - other)
    },
  }
}
