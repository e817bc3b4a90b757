import assert from 'node:assert/strict'
import type { DeclaredKey, DeclaredState } from '../../../src/state/declared-state.ts'
import { readState } from '../../../src/state/read-state.ts'
import type { RecordPlan, StateOptions, StoredState } from '../../../src/state/state-store.ts'
import { createStateText } from '../../../src/state/write-state.ts'
import { unitsOf } from '../../../src/state/commands/apply-plans.ts'
import { generateKey, prefixOf } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { Store } from '../../../src/database/store.ts'
import { NOW } from '../people.ts'
import { recordsOf } from '../../fixtures/records.ts'

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

/** Everything that a state file can declare. */
export async function stored(store: Store): Promise<StoredState> {
  const all: StoredState = { users: [], organizations: [], members: [], servers: [], keys: [] }
  await recordsOf(store).readState((part) => {
    for (const kind of ['users', 'organizations', 'members', 'servers', 'keys'] as const)
      all[kind].push(...(part[kind] as never[]))
  })
  return all
}

export async function exported(store: Store): Promise<string> {
  const text = createStateText()
  await recordsOf(store).readState(text.add)
  return text.end().join('')
}

function optionsFor({ organizations }: DeclaredState, prune: boolean): StateOptions {
  return { prune, now: NOW, organizations: new Map(organizations.map((one) => [one.slug, one])) }
}

export async function plan(
  store: Store,
  state: DeclaredState,
  { prune = false } = {},
): Promise<RecordPlan[]> {
  const records = [...state.organizations, ...state.users]
  const plans = await recordsOf(store).planState(records, optionsFor(state, prune))
  assert.deepEqual(
    plans.flatMap(({ complaints }) => complaints),
    [],
  )
  return plans
}

/**
 * Applies a state, one transaction for each user. Returns the name of each record that another
 * program has changed.
 */
export async function applyAll(
  store: Store,
  state: DeclaredState,
  { prune = false, confirmed = null as RecordPlan[] | null } = {},
): Promise<string[]> {
  const plans = confirmed ?? (await plan(store, state, { prune }))
  const outdated: string[] = []
  for (const unit of unitsOf(plans)) {
    const found = await recordsOf(store).applyState(unit, optionsFor(state, prune))
    if (found !== null) outdated.push(found.of)
  }
  return outdated
}

/** The changes of plans, as `+ key ada@example.com "bot" (svc_live_…)`. */
export function linesOf(plans: readonly RecordPlan[]): string[] {
  const signs = { add: '+', change: '~', remove: '-' }
  return plans.flatMap(({ changes }) =>
    changes.map(({ action, kind, of, text }) => `${signs[action]} ${kind} ${of} ${text}`.trim()),
  )
}
