import { generateKey } from '../../../../src/keys/api-key.ts'
import { type Answer, ask } from '../../../fixtures/requests.ts'
import type { Battlefield } from './battlefield.ts'
import { randomFrom } from '../../../fixtures/random.ts'

/** Consecutive rounds at randomly drawn processes, enough to reach each of them. */
const ROUNDS = 12
/** A process has more than one connection for claims. */
const AT_ONCE = 4
const WAIT_MAX_MS = 30_000

/**
 * Waits until every process has reached its database, because the record is about running services.
 */
export async function warmUp({ port }: Pick<Battlefield, 'port'>): Promise<void> {
  const random = randomFrom(1)
  const start = performance.now()
  const failed: string[] = []
  for (let good = 0; good < ROUNDS; ) {
    const at = port(random)!.port
    const asked = Array.from({ length: AT_ONCE }, () => ask(at, { key: generateKey() }))
    const failures = (await Promise.all(asked)).filter(({ status }) => status !== 401)
    good = failures.length > 0 ? 0 : good + 1
    const afterMs = Math.round(performance.now() - start)
    failed.push(...failures.map((answer) => `after ${afterMs} ms, port ${at}: ${inShort(answer)}`))
    if (afterMs > WAIT_MAX_MS) throw new Error(slowStart(failed, afterMs))
  }
}

function inShort({ status, body }: Answer): string {
  return `${status} ${body.slice(0, 100)}`
}

function slowStart(failed: readonly string[], afterMs: number): string {
  const shown = [...failed.slice(0, 3), ...failed.slice(3).slice(-3)]
  return (
    `${ROUNDS} rounds of ${AT_ONCE} unknown keys in a row should be 401; after ${afterMs} ms, ` +
    `${failed.length} answers were not:\n${shown.join('\n')}`
  )
}
