import type { User } from '../accounts/user.ts'
import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../instant.ts'
import type { Organization, Role } from '../organization.ts'
import type { Server } from '../servers/server.ts'
import type {
  DeclaredOrganization,
  DeclaredState,
  DeclaredUser,
  StateComplaint,
} from './declared-state.ts'

/** The records that a state file can declare, as the database has them. */
export interface StoredState {
  /** By email address. */
  users: User[]
  /** By slug. */
  organizations: Organization[]
  members: StoredMember[]
  /** By id. */
  servers: StoredServer[]
  /** Oldest first. */
  keys: StoredKey[]
}

export interface StoredMember {
  organization_id: string
  user_id: string
  role: Role
  joined_at: Instant
}

export interface StoredServer extends Server {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

export interface StoredKey extends ApiKey {
  /** SHA-256 of the full key, in lowercase hex. */
  hash: string
}

export interface StateChange {
  action: 'add' | 'change' | 'remove'
  kind: 'user' | 'organization' | 'member' | 'server' | 'key'
  /** The user's email address, or the slug of the organization. */
  of: string
  /** The rest of a line for people. */
  text: string
}

export interface StatePlan {
  changes: StateChange[]
  /** Active keys of the file that the database has revoked. They stay revoked. */
  keptRevoked: { of: string; text: string }[]
}

export interface StateOptions {
  /** Removes what the file leaves out of the lists that it has. */
  prune: boolean
  now: Instant
}

/** What a call may do: the changes that the operator has seen, and no others. */
export interface ConfirmedState extends StateOptions {
  plan: StatePlan
}

/** `outdated`: the database has changed since the plan. Nothing was written. */
export type Applied = 'written' | 'outdated'

/** Declared state: the operator's users, organizations, servers and keys as one file. */
export interface StateStore {
  /** All records that a state file can declare, as they were at one moment. */
  readState(): Promise<StoredState>
  /** What applying the state would do, or every reason why it can't. Changes nothing. */
  planState(
    state: DeclaredState,
    options: StateOptions,
  ): Promise<StatePlan | { complaints: StateComplaint[] }>
  /**
   * Makes an organization and its members as declared. Adds users that don't exist. `users` are
   * those of the file. Writes audit entries.
   */
  applyOrganization(
    organization: DeclaredOrganization,
    users: readonly DeclaredUser[],
    confirmed: ConfirmedState,
  ): Promise<Applied>
  /**
   * Makes a user, the keys and the servers as declared. The organizations must be applied already.
   * A last use must be at least one second ago, because the limit does not look at it. Never makes
   * a revoked key active. Writes audit entries.
   */
  applyUser(user: DeclaredUser, confirmed: ConfirmedState): Promise<Applied>
}
