import { HOUR_US } from '../model/instant.ts'
import type { ServerEntry } from './server-entry.ts'
import type { ImportCounts, SavedServers } from './server-import.ts'

/** How long a checked import waits for its user, and how many of a user wait. */
export const IMPORT_KEPT_US = HOUR_US
export const IMPORTS_MAX = 3
/** Servers that a plan lists. */
export const LISTED_MAX = 40

/** What saving an import would do to the user's personal servers. */
export interface PlannedImport extends SavedServers {
  /** The first LISTED_MAX servers that are new or that change, new ones first. */
  listed: PlannedServer[]
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
