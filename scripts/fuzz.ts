import { seedOfRun } from '../test/fixtures/random.ts'
import { fuzz } from '../test/wire/reference/fuzz.ts'

/*
 * `npm run fuzz` sends a million mutated requests and compares the answers with those of the
 * reference reader in test/wire/reference/. `npm run fuzz -- 5000` sends fewer. SEED=… repeats a
 * run. It ends at the first difference, with the shortest request that shows it.
 */

/** One run in a service of its own, so that a report comes now and then. */
const SLICE = 10_000

const total = Number(process.argv[2] ?? 1_000_000)
if (!Number.isSafeInteger(total) || total < 1)
  throw new Error(`expected a number of requests, got: ${process.argv[2]}`)

const first = seedOfRun()
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
