import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { generateKey, hashApiKey, prefixOf } from '../../src/listing/api-key.ts'
import type { ServingStore } from '../../src/listing/store.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { createDatabase } from '../fixtures/postgres-database.ts'
import { addUser } from '../fixtures/service.ts'
import { use } from '../contract/use-api-key.ts'
import { openStore } from './outcomes.ts'

/*
 * One key that five hundred callers hammer costs the others no more than the same load on five hundred keys.
 */

const CALLERS = 500
const PROBES = 150
const ROUNDS = 5
const RATIO_MAX = 1.25

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('the p99 of others beside one hammered key is at most 1.25 times that beside many', async (t) => {
  const store = await openStore(t, await createDatabase(cluster))
  const keys = await issueKeys(store, CALLERS + PROBES)
  const [hammered, probed] = [keys.slice(0, CALLERS), keys.slice(CALLERS)]
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const hot = await p99Beside(store, Array<string>(CALLERS).fill(hammered[0]!), probed)
    const spread = await p99Beside(store, hammered, probed)
    ratios.push(hot / spread)
    t.diagnostic(`${hot.toFixed(1)} ms beside one key, ${spread.toFixed(1)} ms beside ${CALLERS}`)
  }
  const median = ratios.toSorted((a, b) => a - b)[ROUNDS >> 1]!
  t.diagnostic(`the median ratio is ${median.toFixed(2)}`)
  assert.ok(median <= RATIO_MAX, ratios.join())
})

/** The p99 of calls with other keys, one every few milliseconds, while each caller asks again as soon as it is answered. */
async function p99Beside(
  store: ServingStore,
  hammered: readonly string[],
  probed: readonly string[],
): Promise<number> {
  const over = new AbortController()
  const callers = hammered.map(async (key) => {
    while (!over.signal.aborted) await use(store, key)
  })
  const latencies: Promise<number>[] = []
  for (const key of probed) {
    await delay(7)
    const since = performance.now()
    latencies.push(
      use(store, key).then(({ outcome }) => {
        assert.equal(outcome, 'used')
        return performance.now() - since
      }),
    )
  }
  const sorted = (await Promise.all(latencies)).toSorted((a, b) => a - b)
  over.abort()
  await Promise.all(callers)
  return sorted[Math.ceil(sorted.length * 0.99) - 1]!
}

async function issueKeys(store: ServingStore, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let owner = 0; keys.length < count; owner += 1) {
    const user = await addUser(store, `owner${owner}@example.com`)
    for (let number = 1; number <= 5; number += 1) {
      const key = generateKey()
      const record = {
        id: crypto.randomUUID(),
        user_id: user.id,
        name: 'bot',
        prefix: prefixOf(key),
      }
      const apiKey = { ...record, created_at: number, revoked_at: null, last_used_at: null }
      await store.insertApiKey(apiKey, hashApiKey(key), 5)
      keys.push(key)
    }
  }
  return keys.slice(0, count)
}
