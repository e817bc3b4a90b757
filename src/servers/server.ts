import type { NamedUser } from '../accounts/user.ts'
import type { Instant } from '../model/instant.ts'
import { FIELD_NAMES, type FieldValues } from './fields.ts'

/**
 * Servers per user, personal ones and those under organizations. Declared state and a site can
 * exceed this, and then no form or import adds one.
 */
export const REGISTERED_MAX = 500

/** A server as the dashboard shows it. */
export interface RegisteredServer extends FieldValues {
  id: string
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

/** The fields of a form. */
export const SERVER_FIELDS = [...FIELD_NAMES, 'organization_id'] as const

/** The fields that a user sets. The store adds the others. */
export type ServerFields = FieldValues & { organization_id: string | null }

/** Equal for equal fields. A form carries it, so that it can't overwrite what it has not shown. */
export function fingerprintOf(fields: ServerFields): string {
  // Loaded on use: a command needs no cryptography.
  const { hash } = process.getBuiltinModule('node:crypto')
  const values = SERVER_FIELDS.map((name) => fields[name])
  return hash('sha256', JSON.stringify(values), 'hex').slice(0, 16)
}

/**
 * `slug taken` if the owner has another server with this slug, personally or in the same
 * organization. `not found` if the server or organization does not exist.
 */
export type Written = 'written' | 'slug taken' | 'not found'

/** A server with the fields that the API does not return. */
export interface ServerRecord extends FieldValues {
  id: string
  /** The slug of its organization. Null for a personal server. */
  organization: string | null
  updated_at: Instant
}

/** A server of any user, with the id and the names of its owner. */
export interface OwnedServer extends ServerRecord, Omit<NamedUser, 'id'> {
  created_by: string
}

/** Servers that `readServers` hands over together. */
export const SERVERS_PART_MAX = 250

export type ServerScope = 'all' | 'personal'

/** Servers that one call of `listOwnedServers` returns at most. */
export const OWNED_SERVERS_MAX = 1_000
