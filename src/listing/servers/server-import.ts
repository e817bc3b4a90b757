import type { NamedUser } from '../accounts/user.ts'
import type { Instant } from '../instant.ts'
import { count, countOf } from '../text.ts'
import type { Server } from './server.ts'
import type { ServerEntry } from './server-entry.ts'

/** What the entries of an import do. */
export interface ImportCounts {
  /** New servers. */
  added: number
  changed: number
  /** Servers that have the values of their entries already. They keep their instants. */
  unchanged: number
  /** Entries that say again what another one says. */
  duplicates: number
}

export function countNothing(): ImportCounts {
  return { added: 0, changed: 0, unchanged: 0, duplicates: 0 }
}

/** The counts for people, without a full stop. */
export function sayCounts({ added, changed, unchanged, duplicates }: ImportCounts): string {
  const counts = `${count(added)} new, ${count(changed)} changed, ${count(unchanged)} unchanged`
  return duplicates === 0 ? counts : `${counts}, ${countOf(duplicates, 'duplicate')}`
}

/** An entry that can't be imported beside the others, or beside the stored servers. */
export interface WrongEntry {
  /** In the list of entries, from 0. */
  position: number
  /** Such as `row 4`. */
  place: string
  message: string
}

/** Nothing is saved if an entry is wrong. */
export interface SavedServers extends ImportCounts {
  wrong: WrongEntry[]
}

/** What a part of an import knows of all entries. */
export interface WholeImport {
  /** Whether any entry has this slug. Without it, the part is the whole import. */
  hasSlug?(slug: string): boolean
  /** The place of an entry in messages. Without it, `entry 1` is the first one. */
  placeOf?(position: number): string
}

/** A server with the fields that the API does not return. */
export interface ServerRecord extends Server {
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

/** What an import would do. */
export interface PreviewedImport extends SavedServers {
  /** Ids of the servers in its place that no entry means. Empty if the caller does not prune. */
  absent: string[]
  /** The number of servers in its place. 0 if the caller does not prune. */
  present: number
}

/** What the operator's commands do with servers. */
export interface ServerImportStore {
  /**
   * Finds or creates the organization with this slug and returns its id. Makes the user a member,
   * and the owner if it has no members.
   */
  ensureOrganization(slug: string, userId: string): Promise<string>
  /**
   * Writes all entries, or none if one is wrong. An entry means a server of the user, personally or
   * in that organization:
   *
   * - With a slug, the server that has it. If the slug is new, the server without a slug that has
   *   the entry's name, address and edition.
   * - Without a slug, the server with the entry's address and edition. Its name must be the same.
   *
   * An entry that leaves out the edition means a server with any edition. Of several servers, one
   * with all values of the entry counts first, then one with the default edition. No server
   * is meant twice. An entry for whose server another entry has other values is wrong. One with the
   * same values is a duplicate. An entry that means no server adds one. Absent fields keep their
   * values.
   */
  saveServers(
    userId: string,
    organizationId: string | null,
    entries: readonly ServerEntry[],
    now: Instant,
    whole?: WholeImport,
  ): Promise<SavedServers>
  /** What `saveServers` would do with all entries at once. Changes nothing. */
  previewServers(
    userId: string,
    organizationId: string | null,
    entries: readonly ServerEntry[],
    options?: WholeImport & { prune?: boolean },
  ): Promise<PreviewedImport>
  /** Deletes servers of the user for good and ignores other ids. Returns how many it deleted. */
  removeServers(userId: string, ids: readonly string[]): Promise<number>
  /**
   * All servers that the user registered, including those in organizations. Newest `updated_at`
   * first, then by id descending.
   */
  listServers(userId: string): Promise<ServerRecord[]>
  /**
   * The same servers or only the personal ones, in parts of at most SERVERS_PART_MAX. All are as
   * they were at one moment. Other work of this process runs between two parts.
   */
  readServers(
    userId: string,
    scope: ServerScope,
    onPart: (servers: ServerRecord[]) => void,
  ): Promise<void>
  /**
   * The servers of all users, at most OWNED_SERVERS_MAX after a given one, by the owner's id, then
   * by address and id. A caller who asks again after the last server sees each server once whose
   * address does not change meanwhile.
   */
  listOwnedServers(
    after: Pick<OwnedServer, 'created_by' | 'address' | 'id'> | null,
  ): Promise<OwnedServer[]>
}
