import assert from 'node:assert/strict'
import type { Dump } from '../tables.ts'

/** An entry that an act leaves in the audit log: the user, the action and its subject. */
export type Entry = readonly [userId: string, action: string, subject: string]

/** An id that the act creates. */
export const NEW = '(new)'

/**
 * Throws unless exactly these entries are new in the audit log. Both dumps have been through
 * `shapeOf`.
 */
export function assertAudited(
  before: Dump,
  after: Dump,
  wanted: readonly Entry[],
  label: string,
): void {
  const known = new Set(before.get('audit_log'))
  const written = (after.get('audit_log') ?? [])
    .filter((row) => !known.has(row))
    .map((row) => {
      const { user_id, action, subject } = JSON.parse(row) as Record<string, string>
      return [user_id, action, subject].join(' ')
    })
  assert.deepEqual(written.toSorted(), wanted.map((entry) => entry.join(' ')).toSorted(), label)
}
