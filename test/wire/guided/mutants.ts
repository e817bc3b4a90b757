import * as fc from 'fast-check'
import { type Random, randomFrom } from '../../fixtures/random.ts'
import { cuts, type Mutation, mutation, within } from '../reference/mutation.ts'
import type { Input } from './kept.ts'

/** The longest text. The front reads at most 32,768 bytes of a head. */
const LENGTH_MAX = 40_000
/** How many lists of mutations are drawn at once. */
const DRAW = 1_000
/** How often a part of a text is repeated up to a limit of the front. */
const GROWTH = 0.03
const GROWN_LENGTHS = [200, 8_192, 16_384, 32_768]

/** Mutates random parents and cuts them. Parents that are added meanwhile take part. */
export function* mutants(parents: readonly Input[], seed: number, runs: number): Generator<Input> {
  const random = randomFrom(seed)
  const drawn = fc.tuple(fc.array(mutation, { minLength: 1, maxLength: 4 }), cuts)
  for (let done = 0; done < runs; done += DRAW) {
    const numRuns = Math.min(DRAW, runs - done)
    for (const [mutations, places] of fc.sample(drawn, { seed: seed + done, numRuns }))
      yield mutant(random, parents, mutations, places)
  }
}

function mutant(
  random: Random,
  parents: readonly Input[],
  mutations: readonly Mutation[],
  places: readonly number[],
): Input {
  const others = [parents, parents].map((some) => random.pick(some).join(''))
  let text = others[0]!
  if (random.chance(GROWTH)) text = grown(random, text)
  for (const mutate of mutations) text = mutate(text, others)
  text = text.slice(0, LENGTH_MAX)
  const at = places.map((place) => within(text.length, place)).toSorted((one, two) => one - two)
  return [0, ...at]
    .map((from, index) => text.slice(from, at[index]))
    .filter((piece) => piece !== '')
}

/** Repeats a part of a line, or of two, until it is at a limit. */
function grown(random: Random, text: string): string {
  const lines = text.split('\r\n')
  const line = Math.floor(random.between(0, lines.length))
  const before = lines.slice(0, line).reduce((sum, { length }) => sum + length + 2, 0)
  const from = before + Math.floor(random.between(0, lines[line]!.length + 2))
  const part = text.slice(from, from + Math.floor(random.between(1, 12)))
  if (part === '') return text
  const count = Math.ceil(random.pick(GROWN_LENGTHS) / part.length)
  return text.slice(0, from) + part.repeat(count) + text.slice(from)
}
