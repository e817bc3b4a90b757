import type { Instant } from '../instant.ts'
import type { Server, ServerRow } from './server.ts'

/**
 * Servers per user, personal ones and those under organizations. An operator's import can exceed
 * this.
 */
export const REGISTERED_MAX = 500

/** A server as the dashboard shows it. */
export interface RegisteredServer extends Server {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

/** The fields that a user sets, in the order of the form. */
export const SERVER_FIELDS = [
  'name',
  'address',
  'slug',
  'edition',
  'status',
  'version',
  'listing_kind',
  'organization_id',
] as const

/** The fields that a user sets. The store adds the others. */
export type ServerFields = Omit<Server, 'id'> & { organization_id: string | null }

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

/**
 * The servers of a store, for the dashboard. Each statement is scoped to the user, so the servers
 * of other users do not exist for it.
 */
export interface RegisteredServerStore {
  /** A server that the user registered. */
  findServer(userId: string, id: string): Promise<RegisteredServer | null>
  /** A server that the user registered, or that belongs to one of the user's organizations. */
  findSeenServer(userId: string, id: string): Promise<RegisteredServer | null>
  /**
   * `known` if this id exists, because a form was sent twice. `too many` beyond REGISTERED_MAX. If
   * several reasons apply, returns the first of `known`, `not found`, `too many`, `slug taken`.
   */
  insertServer(
    userId: string,
    id: string,
    fields: ServerFields,
    now: Instant,
  ): Promise<Written | 'known' | 'too many'>
  /**
   * Can also move the server to one of the user's organizations, or back. With the fingerprint of
   * the fields that the user has seen, writes nothing if the server has other fields by now:
   * `outdated`, or `written` if it already has the wanted ones.
   */
  updateServer(
    userId: string,
    id: string,
    fields: ServerFields,
    now: Instant,
    seen?: string,
  ): Promise<Written | 'outdated'>
  /** The rows that the API would return for this user's key now (spec 4.1). */
  previewListing(userId: string): Promise<ServerRow[]>
}
