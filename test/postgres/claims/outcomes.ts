import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingStore } from '../../../src/database/store.ts'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { runningMs } from './running-time.ts'

/** The longest running time for any call under any fault, in milliseconds. */
export const ANSWER_MS = 2_500
/**
 * The longest running time from the database's return to the first granted claim. It includes the
 * second in which known keys fail.
 */
export const RETURN_MS = 2_500

export async function openStore(t: TestContext, url: string): Promise<ServingStore> {
  const store = await openServingPostgresStore(url)
  t.after(() => store.close())
  return store
}

/** The outcome of one call, or the name of its fault. Checks that it comes in time. */
export async function outcomeOf(store: ServingStore, key: string): Promise<string> {
  const startedAt = runningMs()
  const outcome = await claim(store, key).then(
    (used) => used.outcome,
    (fault: Error) => fault.name,
  )
  const took = runningMs() - startedAt
  assert.ok(took < ANSWER_MS, `${outcome} after ${took} ms`)
  return outcome
}

/**
 * Claims with a key until one claim is granted. `tookMs` is running time, and `atMs` an instant of
 * `performance.now`.
 */
export async function untilGranted(
  store: ServingStore,
  key: string,
): Promise<{ tookMs: number; atMs: number }> {
  const startedAt = runningMs()
  for (;;) {
    if ((await outcomeOf(store, key)) === 'granted') {
      return { tookMs: runningMs() - startedAt, atMs: performance.now() }
    }
    assert.ok(runningMs() - startedAt < 10_000, 'no claim was granted within ten seconds')
    await delay(10)
  }
}
