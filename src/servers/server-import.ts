import type { NamedUser } from '../accounts/user.ts'
import type { Instant } from '../model/instant.ts'
import { count, countOf } from '../model/text.ts'
import type { Server } from '../model/server-row.ts'

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
