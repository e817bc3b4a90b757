import { CORPUS } from '../corpus/corpus.ts'
import { type Blocks, type Feature, watchBlocks } from './blocks.ts'
import { exchangeInProcess } from './in-process.ts'
import { type Input, lineOf } from './kept.ts'
import { shorten, smallestCover } from './minimize.ts'
import { mutants } from './mutants.ts'

/** How many answers of an input tell it from others. */
const ANSWERS_MAX = 3
const REPORT_EVERY = 5_000

export interface Search {
  kept: Input[]
  /** How many features all inputs reached, and how many the handwritten cases reach. */
  features: { all: number; handwritten: number }
  /** Places of blocks, by the file and the line. */
  neverReached: string[]
}

/**
 * Mutates the handwritten cases and the kept inputs. An input that reaches something new in
 * `src/http/` is shortened and takes part from then on. Throws if an answer is not the reference's.
 */
export async function search(
  kept: readonly Input[],
  seed: number,
  runs: number,
  report: (text: string) => void,
): Promise<Search> {
  const blocks = watchBlocks('/src/http/')
  const handwritten = Object.values(CORPUS)
    .flat()
    .map(({ send }): Input => [send])
  // V8 reports a block once it runs as often as none around it. The second time, all are known.
  await featuresOfAll(blocks, [...handwritten, ...kept])
  const known = await featuresOfAll(blocks, handwritten)
  const reached = new Set([...known, ...(await featuresOfAll(blocks, kept))])
  const parents = [...handwritten, ...kept]
  let tried = 0
  for (const input of mutants(parents, seed, runs)) {
    tried += 1
    if (tried % REPORT_EVERY === 0) report(`${tried} of ${runs} inputs, ${reached.size} features`)
    const gained = (await featuresOf(blocks, input)).filter((feature) => !reached.has(feature))
    if (gained.length === 0) continue
    const short = await shorten(input, async (candidate) => {
      const features = new Set(await featuresOf(blocks, candidate))
      return gained.every((feature) => features.has(feature))
    })
    for (const feature of await featuresOf(blocks, short)) reached.add(feature)
    parents.push(short)
  }

  const reachedBy = new Map<Input, Feature[]>()
  for (const input of parents.slice(handwritten.length)) {
    const features = await featuresOf(blocks, input)
    reachedBy.set(
      input,
      features.filter((feature) => !known.has(feature)),
    )
  }
  blocks.close()
  return {
    kept: smallestCover(reachedBy),
    features: { all: reached.size, handwritten: known.size },
    neverReached: blocks.neverReached(),
  }
}

async function featuresOfAll(blocks: Blocks, inputs: readonly Input[]): Promise<Set<Feature>> {
  const all = new Set<Feature>()
  for (const input of inputs)
    for (const feature of await featuresOf(blocks, input)) all.add(feature)
  return all
}

async function featuresOf(blocks: Blocks, input: Input): Promise<Feature[]> {
  blocks.take()
  try {
    const answers = await exchangeInProcess(input)
    return [...blocks.take(), `answers ${answers.slice(0, ANSWERS_MAX).join(', ')}`]
  } catch (error) {
    throw new Error(`${lineOf(input)}: ${(error as Error).message}`, { cause: error })
  }
}
