import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { seedOfRun, randomFrom } from '../fixtures/random.ts'
import { CHUNKS, FRAMED } from './generated/framings.ts'
import { ODD_FIELDS, ODD_LINES } from './generated/odd-bytes.ts'
import { type Counterpart, startCounterpart } from './reference/exchange.ts'

/*
 * Thousands of generated cases. The reference reader gives the expected answers. Each case is sent
 * whole and cut at a random position.
 */

const TOGETHER = 32

const FAMILIES: Record<string, string[]> = {
  'an odd byte at each place of a field': ODD_FIELDS,
  'an odd byte at each place of the first line': ODD_LINES,
  'every way to say how long a message is': FRAMED,
  'chunks of every form': CHUNKS,
}

for (const [name, texts] of Object.entries(FAMILIES))
  test(`${name}: ${texts.length} cases`, (t) => runFamily(t, texts))

async function runFamily(t: TestContext, texts: readonly string[]): Promise<void> {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  const counterpart = await startCounterpart(t)
  const failures: string[] = []
  for (let from = 0; from < texts.length; from += TOGETHER)
    await Promise.all(
      texts.slice(from, from + TOGETHER).map(async (text) => {
        const cut = Math.floor(random.between(1, text.length))
        failures.push(...(await failuresOf(counterpart, text, cut)))
      }),
    )
  assert.equal(
    failures.length,
    0,
    `${failures.length}, of which: ${failures.slice(0, 5).join('\n')}`,
  )
  await counterpart.assertWhole()
}

async function failuresOf(counterpart: Counterpart, send: string, cut: number): Promise<string[]> {
  const text = send.replaceAll('KEY', counterpart.key)
  try {
    await counterpart.exchange(text)
    await counterpart.exchange(text, [cut])
    return []
  } catch (error) {
    return [`${JSON.stringify(send)}, cut at ${cut}: ${(error as Error).message}`]
  }
}
