import type { Feature } from './blocks.ts'
import type { Input } from './kept.ts'

/** The most attempts for one input. */
const ATTEMPTS_MAX = 400

/** Joins pieces and removes parts of the text, in halves and smaller, while `isGood` holds. */
export async function shorten(
  input: Input,
  isGood: (input: Input) => Promise<boolean>,
): Promise<Input> {
  let best = input
  let attempts = 0
  async function tryOne(candidate: Input): Promise<boolean> {
    attempts += 1
    if (!(await isGood(candidate))) return false
    best = candidate
    return true
  }
  for (let index = 1; index < best.length; ) if (!(await tryOne(joined(best, index)))) index += 1
  let size = Math.ceil(lengthOf(best) / 2)
  while (size >= 1 && attempts < ATTEMPTS_MAX) {
    for (let at = 0; at < lengthOf(best) && attempts < ATTEMPTS_MAX; )
      if (!(await tryOne(without(best, at, size)))) at += size
    size = Math.floor(size / 2)
  }
  return best
}

function lengthOf(input: Input): number {
  return input.reduce((sum, { length }) => sum + length, 0)
}

function joined(input: Input, index: number): Input {
  return [
    ...input.slice(0, index - 1),
    input[index - 1]! + input[index]!,
    ...input.slice(index + 1),
  ]
}

function without(input: Input, at: number, size: number): Input {
  let from = 0
  const pieces = input.map((piece) => {
    const start = Math.max(0, at - from)
    const end = Math.max(0, at + size - from)
    from += piece.length
    return piece.slice(0, start) + piece.slice(end)
  })
  return pieces.filter((piece) => piece !== '')
}

/** A small set of inputs that reach everything that all of them reach. Earlier ones win. */
export function smallestCover(reachedBy: ReadonlyMap<Input, readonly Feature[]>): Input[] {
  const covered = new Set<Feature>()
  const chosen: Input[] = []
  for (;;) {
    let [best, gain] = [null as Input | null, 0]
    for (const [input, features] of reachedBy) {
      const size = features.filter((feature) => !covered.has(feature)).length
      if (size > gain) [best, gain] = [input, size]
    }
    if (best === null) return chosen
    chosen.push(best)
    for (const feature of reachedBy.get(best)!) covered.add(feature)
  }
}
