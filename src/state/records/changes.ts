import type { User } from '../../accounts/user.ts'
import type { Organization, Role } from '../../organizations/organization.ts'
import type { DeclaredRecord } from '../declared-state.ts'
import type { RecordPlan, StateChange, StateOptions, StoredKey } from '../state-store.ts'
import { quote } from '../../model/text.ts'
import type { Stored } from './stored-state.ts'
import type { PlacedServer } from '../../servers/plan.ts'

export interface PlannedMember {
  slug: string
  user_id: string
  role: Role
  joined_at: number
}

interface Records {
  user: User
  organization: Organization
  member: PlannedMember
  server: PlacedServer
  key: StoredKey
}

/** A record as it is and as it becomes. Null: there is none. A key that ends is revoked. */
export interface Change<Kind extends keyof Records> extends StateChange {
  kind: Kind
  before: Records[Kind] | null
  after: Records[Kind] | null
}

export type AnyChange = { [Kind in keyof Records]: Change<Kind> }[keyof Records]

/** A plan with what is written. */
export interface Planned extends RecordPlan {
  changes: AnyChange[]
}

/** What the keys, servers and memberships of a user are planned with. */
export interface Planning {
  plan: Planned
  userId: string
  stored: Stored
  options: StateOptions
}

export function emptyPlan(record: DeclaredRecord, userId: string | null, of: string): Planned {
  return { record, userId, of, changes: [], keptRevoked: [], complaints: [], memberships: [] }
}

/** Adds a change to the plan of its record. */
export function addChange<Kind extends keyof Records>(
  plan: Planned,
  kind: Kind,
  before: Records[Kind] | null,
  after: Records[Kind] | null,
  text: string,
): void {
  const action = before === null ? 'add' : after === null ? 'remove' : 'change'
  const change: Change<Kind> = { action, kind, of: plan.of, text, before, after }
  plan.changes.push(change as AnyChange)
}

/** What changes between two rows: each field that differs, with both of its values. */
export function differences<Row extends object>(
  before: Row,
  after: Row,
  fields = Object.keys(before) as (keyof Row & string)[],
): string[] {
  return fields
    .filter((field) => after[field] !== before[field])
    .map((field) => `${field} ${quote(before[field])} → ${quote(after[field])}`)
}
