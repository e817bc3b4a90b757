import type { OfferedValues, ServerEntry } from './server-entry.ts'
import { count } from '../model/text.ts'
import type { PlannedServer } from './plan.ts'

/** What an import does. */
export interface ImportCounts {
  /** New servers. */
  added: number
  changed: number
  /** Servers that have the values of their entries already. They keep their instants. */
  unchanged: number
  removed: number
}

export function countNothing(): ImportCounts {
  return { added: 0, changed: 0, unchanged: 0, removed: 0 }
}

/** The counts for people, without a full stop. */
export function sayCounts({ added, changed, unchanged }: ImportCounts): string {
  return `${count(added)} new, ${count(changed)} changed, ${count(unchanged)} unchanged`
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

/** The entries with the known values that a plan offers instead of theirs. */
export function withOffered(
  entries: readonly ServerEntry[],
  wrong: readonly WrongEntry[],
): ServerEntry[] {
  const taken = [...entries]
  for (const { position, offered } of wrong) taken[position] = { ...taken[position]!, ...offered }
  return taken
}

/** How an import goes on. */
export interface ImportOptions {
  /** The place of an entry in messages. Without it, `entry 1` is the first one. */
  placeOf?(position: number): string
  /** The most servers that the user may have, if the import adds any. */
  ownedMax?: number
  /** Whether the servers that no entry means are of interest. */
  prunes?: boolean
}

/** What an import has done. Nothing is saved if an entry is wrong. */
export interface SavedServers extends ImportCounts {
  wrong: WrongEntry[]
  /** True if the user would have more servers than the limit. Then nothing is saved. */
  isTooMany: boolean
}

/** What an import would do. */
export interface PlannedImport extends SavedServers {
  /** The new and the changed servers, in the order of their entries. */
  changes: PlannedServer[]
  /** Ids of the servers in its place that no entry means. Empty if the import does not prune. */
  absent: string[]
  /** The number of servers in its place. 0 if the import does not prune. */
  present: number
  /** Names the plan: it differs as soon as the import would do something else. */
  fingerprint: string
}
