import { HOUR_US } from '../model/instant.ts'
import type { ServerEntry } from './server-entry.ts'
import { count, countOf } from '../model/text.ts'

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
  /** A known edition or status that differs from the entry's only in case. */
  offered?: OfferedValues
}

export type OfferedValues = Partial<Pick<ServerEntry, 'edition' | 'status'>>

/** The entries with the known values that a plan offers instead of theirs. */
export function withOffered(
  entries: readonly ServerEntry[],
  wrong: readonly WrongEntry[],
): ServerEntry[] {
  const taken = [...entries]
  for (const { position, offered } of wrong) taken[position] = { ...taken[position]!, ...offered }
  return taken
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

/** What an import would do. */
export interface PreviewedImport extends SavedServers {
  /** Ids of the servers in its place that no entry means. Empty if the caller does not prune. */
  absent: string[]
  /** The number of servers in its place. 0 if the caller does not prune. */
  present: number
}

/** How long a checked import waits for its user, and how many of a user wait. */
export const IMPORT_KEPT_US = HOUR_US

export const IMPORTS_MAX = 3

/** Servers of each kind that a plan lists. */
export const LISTED_MAX = 40

/** What saving an import would do to the user's personal servers. */
export interface PlannedImport extends SavedServers {
  /** The first LISTED_MAX servers that are new, and the first that change. */
  listed: { added: PlannedServer[]; changed: PlannedServer[] }
  /** True if the user would have more than REGISTERED_MAX servers afterwards. */
  isTooMany: boolean
  /** Names the plan: it differs as soon as the import would do something else. */
  fingerprint: string
}

export interface PlannedServer {
  name: string
  address: string
  /** The fields that change. Empty for a new server. */
  fields: ChangedField[]
}

export interface ChangedField {
  name: string
  /** The value before. */
  from: string | null
  /** The value after the import. */
  to: string | null
}

export interface CheckedImport {
  entries: ServerEntry[]
  /** Where each entry stands in its file, such as `row 4`. */
  places: string[]
  /** Null until the user confirms the import. */
  saved: ImportCounts | null
}
