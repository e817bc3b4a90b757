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

/** Every record knows its place in the file. */
interface Placed {
  place: string
  /** Absent if the service chooses it for a new record. */
  id?: string | undefined
}

export interface DeclaredOrganization extends Placed {
  slug: string
  name: string
  members?: DeclaredMember[] | undefined
}

export interface DeclaredMember extends Omit<Placed, 'id'> {
  email: string
  role: Role
  joined_at?: Instant | undefined
}

export interface DeclaredUser extends Placed {
  email: string
  created_at?: Instant | undefined
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
