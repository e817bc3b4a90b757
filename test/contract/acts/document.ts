import assert from 'node:assert/strict'
import type { ActsAnswer, Hand } from '../../../src/acts/document.ts'
import { acts } from '../../../src/acts/records/acts.ts'
import { readDocument } from '../../../src/acts/read-document.ts'
import type { Store } from '../../../src/database/store.ts'
import { presentInstant } from '../../../src/model/instant.ts'

/** Performs a document without mistakes. `op@example.com` is an address of OPERATORS. */
export function perform(
  store: Store,
  acts_: object,
  hand: Hand = 'site',
  dryRun = false,
): Promise<ActsAnswer> {
  const version = hand === 'operator' ? { format_version: 2 } : {}
  const read = readDocument(structuredClone({ ...version, ...acts_ }), hand)
  if (!('document' in read)) throw new assert.AssertionError({ message: JSON.stringify(read) })
  const actor = { address: hand === 'site' ? 'token shop' : 'command line', at: presentInstant() }
  return acts(store.database).perform(read.document, { hand, actor, isOperator, dryRun })
}

const isOperator = (email: string) => email === 'op@example.com'

export const ID = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
export const user = (external_id: string, fields: object = {}) => ({ external_id, ...fields })
export const server = (n: number, external_id: string, fields: object = {}) => {
  return { id: ID(n), external_id, name: `S${n}`, address: `s${n}.example.com`, ...fields }
}
