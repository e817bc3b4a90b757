import type { Instant } from '../instant.ts'
import type { Server } from './server.ts'
import type { ServerEntry } from './server-entry.ts'

/** The number of new and of updated servers. */
export interface Saved {
  added: number
  updated: number
}

/** A server with the fields that the API does not return. */
export interface ServerRecord extends Server {
  /** The slug of its organization. Null for a personal server. */
  organization: string | null
  updated_at: Instant
}

/** A server of any user, with the id and the email address of its owner. */
export interface OwnedServer extends ServerRecord {
  created_by: string
  email: string
}

/** Servers that one call of `listOwnedServers` returns at most. */
export const OWNED_SERVERS_MAX = 1_000

/** What an import would do. */
export interface ImportOutcome extends Saved {
  /** Ids of the servers in its place that no entry means. */
  absent: string[]
}

/** What the operator's commands do with servers. */
export interface ServerImportStore {
  /**
   * Finds or creates the organization with this slug and returns its id. Makes the user a member,
   * and the owner if it has no members.
   */
  ensureOrganization(slug: string, userId: string): Promise<string>
  /**
   * Writes all entries in order, or none. An entry updates the user's server that has the same slug
   * (or, without a slug, the same address), personally or in that organization. Of several with
   * that address, servers without a slug come first. Absent fields keep their values.
   */
  saveServers(
    userId: string,
    organizationId: string | null,
    entries: readonly ServerEntry[],
    now: Instant,
  ): Promise<Saved>
  /** What `saveServers` would do with all entries at once. Changes nothing. */
  previewServers(
    userId: string,
    organizationId: string | null,
    entries: readonly ServerEntry[],
  ): Promise<ImportOutcome>
  /** Deletes servers of the user for good and ignores other ids. Returns how many it deleted. */
  removeServers(userId: string, ids: readonly string[]): Promise<number>
  /**
   * All servers that the user registered, including those in organizations. Newest `updated_at`
   * first, then by id descending.
   */
  listServers(userId: string): Promise<ServerRecord[]>
  /**
   * The servers of all users, at most OWNED_SERVERS_MAX after a given one, by the owner's id, then
   * by address and id. A caller who asks again after the last server sees each server once whose
   * address does not change meanwhile.
   */
  listOwnedServers(
    after: Pick<OwnedServer, 'created_by' | 'address' | 'id'> | null,
  ): Promise<OwnedServer[]>
}
