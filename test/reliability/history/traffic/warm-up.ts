import { generateKey } from '../../../../src/listing/api-key.ts'
import { ask } from '../../../fixtures/requests.ts'
import type { Battlefield } from '../nemesis.ts'
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
  const until = performance.now() + WAIT_MAX_MS
  for (let good = 0; good < ROUNDS; ) {
    const at = port(random)!.port
    const asked = Array.from({ length: AT_ONCE }, () => ask(at, { key: generateKey() }))
    const hasFailed = (await Promise.all(asked)).some(({ status }) => status !== 401)
    good = hasFailed ? 0 : good + 1
    if (performance.now() > until)
      throw new Error(`a service fails for an unknown key, ${WAIT_MAX_MS} ms after its start`)
  }
}
