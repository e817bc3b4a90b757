import type { User } from '../accounts/user.ts'
import type { ApiKey } from '../keys/api-key.ts'
import type { Instant } from '../model/instant.ts'
import type { Organization, Role } from '../organizations/organization.ts'
import type { RegisteredServer } from '../servers/server.ts'
import type { DeclaredOrganization, DeclaredRecord, StateComplaint } from './declared-state.ts'

/** Records that a state file can declare, as the database has them. */
export interface StoredState {
  users: User[]
  organizations: Organization[]
  members: StoredMember[]
  servers: RegisteredServer[]
  /** Oldest first. */
  keys: StoredKey[]
}

export interface StoredMember extends Pick<User, 'email' | 'external_id'> {
  organization_id: string
  user_id: string
  role: Role
  joined_at: Instant
}

export interface StoredKey extends ApiKey {
  /** SHA-256 of the full key, in lowercase hex. */
  hash: string
}

export interface StateChange {
  action: 'add' | 'change' | 'remove'
  kind: 'user' | 'organization' | 'member' | 'server' | 'key'
  /** The name of the user, or the slug of the organization. */
  of: string
  /** The rest of a line for people. */
  text: string
}

/** What applying one record of a file does, or the reasons why it can't. */
export interface RecordPlan {
  record: DeclaredRecord
  /** The user's id; null for an organization. */
  userId: string | null
  /** The name of the user, or the slug of the organization. */
  of: string
  changes: StateChange[]
  /** Active keys of the file that stay revoked. */
  keptRevoked: string[]
  complaints: StateComplaint[]
  /**
   * Roles that change, and null for a member who leaves. An organization needs an owner afterwards,
   * so its plan has it, too.
   */
  memberships: { slug: string; role: Role | null }[]
}

export interface StateOptions {
  /** Removes what the file leaves out of the lists that it has. */
  prune: boolean
  now: Instant
  /** Those of the file, by slug. */
  organizations: ReadonlyMap<string, DeclaredOrganization>
  /** Users that don't exist are mistakes. */
  needsUsers?: boolean
}
