/** Numbers drawn from a seed: the same seed, the same numbers. */
export interface Random {
  /** At least `from`, less than `to`. */
  between(from: number, to: number): number
  pick<T>(items: readonly T[]): T
  /** The same, in any order. */
  shuffle<T>(items: readonly T[]): T[]
  /** True with this probability. */
  chance(probability: number): boolean
  /** Another source, drawn from this one: what one client draws does not depend on when another does. */
  branch(): Random
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32.
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    between: (from, to) => from + next() * (to - from),
    pick(items) {
      return items[Math.floor(next() * items.length)]!
    },
    shuffle: (items) =>
      items
        .map((item) => ({ item, place: next() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ item }) => item),
    chance: (probability) => next() < probability,
    branch: () => randomFrom(Math.floor(next() * 4_294_967_296)),
  }
}

export function freshSeed(): number {
  return Math.floor(Math.random() * 1_000_000)
}
