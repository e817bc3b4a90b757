import type { Instant } from '../model/instant.ts'
import type { Role } from '../organizations/organization.ts'
import type { ServerEntry } from '../servers/server-entry.ts'

/**
 * Whose document it is. A site names users by external id, and touches only accounts that have one.
 * An operator touches every account.
 */
export type Hand = 'operator' | 'site'

/** In the order in which a document is worked through. */
export const ACTS = [
  'put_users',
  'put_organizations',
  'put_members',
  'put_servers',
  'put_keys',
  'revoke_keys',
  'remove_servers',
  'remove_members',
  'remove_organizations',
  'remove_users',
] as const
export type ActName = (typeof ACTS)[number]

/** The version of the format of a file. */
export const FORMAT_VERSION = 2

/** The fields that name a user: the first of them that is known does. */
export interface Named {
  external_id?: string | null
  /** In rows of users, the document calls it `id`. */
  user_id?: string
  email?: string | null
}

/** The fields of a row. An absent one keeps its value, and a new record has the default. */
export interface Fields {
  put_users: Named & {
    created_at?: Instant
    banned_at?: Instant | null
    disabled_at?: Instant | null
  }
  put_organizations: Named & { id?: string; slug: string; name: string }
  put_members: Named & { slug: string; role: Role; joined_at?: Instant }
  put_servers: Named & { id?: string; organization?: string | null; entry: ServerEntry }
  put_keys: Named & {
    id?: string
    name: string
    /** SHA-256 of the full key, in lowercase hex. */
    key_hash: string
    prefix?: string
    created_at?: Instant
    revoked_at?: Instant | null
    last_used_at?: Instant | null
  }
  /** One of the two. */
  revoke_keys: Named & { id?: string; key_hash?: string }
  remove_servers: { id: string }
  remove_members: Named & { slug: string }
  remove_organizations: { slug: string }
  remove_users: Named
}

/** A row knows its number in the array, from 0, and its place in the document. */
export interface Placed {
  row: number
  place: string
}

export type RowOf<Act extends ActName> = Fields[Act] & Placed
export type AnyRow = RowOf<ActName>

/** A document without mistakes of its own. */
export type Document = { [Act in ActName]?: RowOf<Act>[] } & {
  /** The site's users whom put_users lacks are banned. */
  all_users?: true
  /** Personal servers of the site's users, or of these owners, that put_servers lacks go. */
  all_servers?: true
  all_servers_of?: (Named & Placed)[]
  /** Those whom `all_users` bans. No document has it. */
  banned?: (Named & Placed)[]
}

/** A mistake and its place in the document, such as `put_users[2].email`. */
export interface Complaint {
  place: string
  message: string
}

/** Why a site's row is not done, or only in part. */
export type Reason =
  | 'address taken'
  | 'address not ASCII'
  | 'address of an operator'
  | 'disabled by an operator'
  | 'no such user'
  | 'no such organization'
  | 'of another account'
  | 'not one line'
  | 'too long'
  | 'empty'
  | 'not a member'
  | 'account of an operator'
  | 'sixth key'
  | 'stays revoked'
  | 'has servers'
  | 'last owner'

/** A row that was refused, with what the row is called. */
export interface Refused {
  row: number
  external_id?: string
  id?: string
  key_hash?: string
  slug?: string
  reason: Reason
}

interface Put {
  added: number
  changed: number
  refused: Refused[]
}

interface Removed {
  removed: number
  refused: Refused[]
}

/** What the acts of a document have done, each that it has. */
export interface ActsAnswer {
  /** `banned` counts those whom `all_users` has banned. */
  put_users?: Put & { banned?: number }
  put_organizations?: Put
  put_members?: Put
  /** `removed` counts the servers that `all_servers` or `all_servers_of` has removed. */
  put_servers?: Put & { removed?: number }
  put_keys?: Put
  revoke_keys?: { revoked: number; refused: Refused[] }
  remove_servers?: Removed
  remove_members?: Removed
  remove_organizations?: Removed
  remove_users?: Removed
}
