import assert from 'node:assert/strict'
import type { DeclaredKey, DeclaredState } from '../../../src/listing/state/declared-state.ts'
import { readState } from '../../../src/listing/state/read-state.ts'
import type { Applied, StatePlan } from '../../../src/listing/state/state-store.ts'
import { generateKey, hashApiKey, prefixOf } from '../../../src/listing/api-key.ts'
import type { Store } from '../../../src/listing/store.ts'
import { NOW } from '../people.ts'

const noFiles = () => ({ complaint: 'no files here' })

/** A file with these organizations and users, which must have no mistake. */
export function declare(fields: object): DeclaredState {
  const { state, complaints } = readState({ format_version: 1, ...fields }, NOW, noFiles)
  assert.deepEqual(complaints, [])
  return state!
}

/** A new key, and its fields in a file. */
export function newKey(fields: Partial<DeclaredKey> = {}) {
  const key = generateKey()
  const key_hash = hashApiKey(key).toString('hex')
  return { key, fields: { name: 'bot', prefix: prefixOf(key), key_hash, ...fields } }
}

export async function plan(
  store: Store,
  state: DeclaredState,
  { prune = false } = {},
): Promise<StatePlan> {
  const planned = await store.planState(state, { prune, now: NOW })
  assert.ok('changes' in planned, JSON.stringify(planned))
  return planned
}

/** Applies a state as `apply` does, and returns the outcome of each step. */
export async function applyAll(
  store: Store,
  state: DeclaredState,
  { prune = false, confirmed = null as StatePlan | null } = {},
): Promise<Applied[]> {
  const options = { plan: confirmed ?? (await plan(store, state, { prune })), prune, now: NOW }
  const outcomes: Applied[] = []
  for (const one of state.organizations)
    outcomes.push(await store.applyOrganization(one, state.users, options))
  for (const one of state.users) outcomes.push(await store.applyUser(one, options))
  return outcomes
}

/** The changes of a plan, as `+ key ada@example.com "bot" (svc_live_…)`. */
export function linesOf({ changes }: StatePlan): string[] {
  const signs = { add: '+', change: '~', remove: '-' }
  return changes.map(({ action, kind, of, text }) =>
    `${signs[action]} ${kind} ${of} ${text}`.trim(),
  )
}
