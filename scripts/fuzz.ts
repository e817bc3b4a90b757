import { parseArgs } from 'node:util'
import { seedOfRun } from '../test/fixtures/random.ts'
import { readKept, writeKept } from '../test/wire/guided/kept.ts'
import { search } from '../test/wire/guided/search.ts'
import { fuzz } from '../test/wire/reference/fuzz.ts'

/*
 * `npm run fuzz` sends a million mutated requests and compares the answers with those of the
 * reference reader in test/wire/reference/. `npm run fuzz -- 5000` sends fewer. SEED=… repeats a
 * run. It ends at the first difference, with the shortest request that shows it.
 *
 * `npm run fuzz -- --guided` tries 50,000 inputs without a network, and extends the corpus
 * test/wire/guided/kept.jsonl with those that reach something new. test/wire/guided.test.ts sends
 * the corpus.
 */

/** One run in a service of its own, so that a report comes now and then. */
const SLICE = 10_000

const { values, positionals } = parseArgs({
  options: { guided: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const total = Number(positionals[0] ?? (values.guided ? 50_000 : 1_000_000))
if (!Number.isSafeInteger(total) || total < 1)
  throw new Error(`expected a number of requests, got: ${positionals[0]}`)

const first = seedOfRun()
if (values.guided) await extendKept()
else await sendMutated()

async function sendMutated(): Promise<void> {
  for (let done = 0; done < total; done += SLICE) {
    const seed = first + done / SLICE
    const endings: (() => unknown)[] = []
    const runs = Math.min(SLICE, total - done)
    try {
      await fuzz({ after: (ending) => void endings.push(ending as () => unknown) }, seed, runs)
    } catch (error) {
      console.error(`SEED=${seed} npm run fuzz -- ${runs}`)
      throw error
    } finally {
      for (const ending of endings.toReversed()) await ending()
    }
    console.log(`${done + runs} of ${total} requests got the reference's answers (SEED=${seed})`)
  }
}

async function extendKept(): Promise<void> {
  console.log(`SEED=${first} npm run fuzz -- --guided ${total}`)
  const before = readKept()
  const { kept, features, neverReached } = await search(before, first, total, console.log)
  writeKept(kept)
  const added = kept.filter((input) => !before.includes(input)).length
  console.log(`kept ${kept.length} inputs: ${added} new, ${before.length} before`)
  console.log(`counts of blocks, and sequences of answers: ${features.all} reached`)
  console.log(`by the handwritten cases alone: ${features.handwritten}`)
  if (neverReached.length > 0) console.log(`blocks never reached: ${neverReached.join(', ')}`)
}
