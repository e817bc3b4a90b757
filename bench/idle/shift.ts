/** What was measured in a pair of rounds: some values of either kind. */
export interface Two {
  without: number[]
  beside: number[]
}

/** How far values of one kind lie from those of the other. */
export interface Shift {
  without: number
  beside: number
  ratio: number
  /** The middle 95 % of the ratios of other draws of the same pairs: what chance alone may have made of it. */
  from: number
  to: number
}

const DRAWS = 2_000

/** Of a statistic of all values of either kind. Whole pairs are drawn, as the values of one are of the same moment. */
export function shiftOf(pairs: readonly Two[], of: (values: readonly number[]) => number): Shift {
  const ratios = Array.from({ length: DRAWS }, () => {
    const drawn = pairs.map(() => pairs[Math.floor(Math.random() * pairs.length)]!)
    return compare(drawn, of).ratio
  }).toSorted((a, b) => a - b)
  const at = (share: number) => ratios[Math.floor(DRAWS * share)]!
  return { ...compare(pairs, of), from: at(0.025), to: at(0.975) }
}

function compare(pairs: readonly Two[], of: (values: readonly number[]) => number) {
  const without = of(pairs.flatMap((pair) => pair.without))
  const beside = of(pairs.flatMap((pair) => pair.beside))
  return { without, beside, ratio: beside / without }
}
