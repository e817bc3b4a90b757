import assert from 'node:assert/strict'
import type { Document } from '../../../src/acts/document.ts'
import { readDocument } from '../../../src/acts/read-document.ts'
import { acts } from '../../../src/acts/records/acts.ts'
import { fileParts, type PartPlan } from '../../../src/acts/records/file-parts.ts'
import type { Store } from '../../../src/database/store.ts'
import { generateKey, prefixOf } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { documentOf } from '../../fixtures/document.ts'
import { OPERATOR } from '../people.ts'
import { NOW } from '../../fixtures/clock.ts'

/** An operator's document, which must have no mistake. */
export function declare(fields: Parameters<typeof documentOf>[0]): Document {
  const read = readDocument(structuredClone(documentOf(fields)), 'operator', { now: NOW })
  assert.ok('document' in read, JSON.stringify(read))
  return read.document
}

/** A new key, and its fields in a document. */
export function newKey(fields: object = {}) {
  const key = generateKey()
  const key_hash = hashApiKey(key).toString('hex')
  return { key, key_hash, fields: { name: 'bot', prefix: prefixOf(key), key_hash, ...fields } }
}

type Rows = Record<string, string | null>[]

/** What `export` writes. */
export async function exported({ database }: Store) {
  const all = {
    put_users: [] as Rows,
    put_organizations: [] as Rows,
    put_members: [] as Rows,
    put_servers: [] as Rows,
    put_keys: [] as Rows,
  }
  await acts(database).readAll((act, rows) => all[act as keyof typeof all].push(...(rows as Rows)))
  return all
}

export interface Confirmed {
  plans: PartPlan[]
  whole: Parameters<ReturnType<typeof fileParts>['plan']>[1]
}

export async function plan({ database }: Store, document: Document): Promise<Confirmed> {
  const { parts, whole } = await fileParts(database).split(document)
  const plans = []
  for (const part of parts) plans.push(await fileParts(database).plan(part, whole, NOW))
  assert.deepEqual(
    plans.flatMap(({ complaints }) => complaints),
    [],
  )
  return { plans, whole }
}

/**
 * Applies a document. Returns the name of each record that another program has changed.
 */
export async function applyAll(
  store: Store,
  document: Document,
  confirmed?: Confirmed,
): Promise<string[]> {
  const { plans, whole } = confirmed ?? (await plan(store, document))
  const outdated: string[] = []
  for (const one of plans) {
    const found = await fileParts(store.database).apply(one, whole, OPERATOR)
    if (found !== null) outdated.push(found)
  }
  return outdated
}

/** The changes of plans, as `+ key ada@example.com "bot" (svc_live_…)`. */
export function linesOf({ plans }: Pick<Confirmed, 'plans'>): string[] {
  const signs = { add: '+', change: '~', remove: '-' }
  return plans.flatMap(({ changes }) =>
    changes.map(({ action, kind, of, text }) => `${signs[action]} ${kind} ${of} ${text}`.trim()),
  )
}
