import type { Instant } from '../instant.ts'
import type { Role } from '../organization.ts'
import type { ServerEntry } from '../servers/server-entry.ts'

/** The version of the format of a state file. */
export const STATE_FORMAT_VERSION = 1

/** A mistake and its place in the file, such as `users[2].keys[0].key_hash`. */
export interface StateComplaint {
  place: string
  message: string
}

/** What a state file declares. A list that is left out declares nothing. */
export interface DeclaredState {
  organizations: DeclaredOrganization[]
  users: DeclaredUser[]
}

export type DeclaredRecord = DeclaredOrganization | DeclaredUser

/** Every record knows its place in the file. */
interface Placed {
  place: string
  /** Absent if the service chooses it for a new record. */
  id?: string | undefined
}

/** The fields that name a user: the first of them that is known does. */
export interface DeclaredName extends Placed {
  external_id?: string | null | undefined
  email?: string | null | undefined
}

export interface DeclaredOrganization extends Placed {
  slug: string
  name: string
  members?: DeclaredMember[] | undefined
}

/** Names a user of the file. */
export interface DeclaredMember extends DeclaredName {
  role: Role
  joined_at?: Instant | undefined
}

export interface DeclaredUser extends DeclaredName {
  created_at?: Instant | undefined
  /** An instant disables the user, and null enables the user. */
  disabled_at?: Instant | null | undefined
  /** By the slug of the organization. */
  memberships: Map<string, DeclaredMember>
  keys?: DeclaredKey[] | undefined
  servers?: DeclaredServer[] | undefined
}

/** A key by its hash. The instants count for a new key only, except that `revoked_at` revokes. */
export interface DeclaredKey extends Placed {
  name: string
  /** SHA-256 of the full key, in lowercase hex. */
  hash: string
  prefix?: string | undefined
  created_at?: Instant | undefined
  revoked_at?: Instant | null | undefined
  last_used_at?: Instant | null | undefined
}

export interface DeclaredServer extends Placed {
  /** The slug of its organization, or null. Absent: where it is, and personal if it is new. */
  organization?: string | null | undefined
  entry: ServerEntry
}

export const isOrganization = (record: DeclaredRecord): record is DeclaredOrganization =>
  'slug' in record
