import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingStore } from '../../src/listing/store.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { use } from '../contract/use-api-key.ts'

/** What any single call may take, whatever is wrong, in milliseconds. */
export const ANSWER_MS = 2_500
/** From the database's return to the first use; one second of it may be the hold-off. */
export const RETURN_MS = 2_500

export async function openStore(t: TestContext, url: string): Promise<ServingStore> {
  const store = await openServingPostgresStore(url)
  t.after(() => store.close())
  return store
}

/** What became of one call: the outcome, or the name of the fault. It is there in time. */
export async function outcomeOf(store: ServingStore, key: string): Promise<string> {
  const startedAt = performance.now()
  const outcome = await use(store, key).then(
    (used) => used.outcome,
    (fault: Error) => fault.name,
  )
  const took = performance.now() - startedAt
  assert.ok(took < ANSWER_MS, `${outcome} after ${took} ms`)
  return outcome
}

/** Asks with a key until it is used. */
export async function untilUsed(
  store: ServingStore,
  key: string,
): Promise<{ tookMs: number; atMs: number }> {
  const startedAt = performance.now()
  for (;;) {
    if ((await outcomeOf(store, key)) === 'used') {
      const atMs = performance.now()
      return { tookMs: atMs - startedAt, atMs }
    }
    assert.ok(performance.now() - startedAt < 10_000, 'not back after ten seconds')
    await delay(10)
  }
}
