import { HOUR_US, type Instant } from '../instant.ts'
import type { ServerEntry } from './server-entry.ts'
import type { ImportCounts, SavedServers, WholeImport } from './server-import.ts'

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

/** Imports of personal servers that the user checks first and then confirms. */
export interface CheckedImportStore {
  /** Changes nothing. The rules are those of `saveServers`. */
  planServers(
    userId: string,
    entries: readonly ServerEntry[],
    whole?: WholeImport,
  ): Promise<PlannedImport>
  /** Keeps entries for the user to confirm, and drops all but the latest IMPORTS_MAX. */
  keepImport(
    userId: string,
    id: string,
    entries: readonly ServerEntry[],
    now: Instant,
    places?: readonly string[],
  ): Promise<void>
  /** Null if this user has no such import, or kept it longer than IMPORT_KEPT_US ago. */
  findImport(userId: string, id: string, now: Instant): Promise<CheckedImport | null>
  /**
   * Saves the kept entries if that still does what the fingerprint says. Saves an import once:
   * later calls return `saved`, too. `replanned` if the servers have changed since the check, or if
   * an entry is wrong by now.
   */
  saveImport(
    userId: string,
    id: string,
    fingerprint: string,
    now: Instant,
  ): Promise<'saved' | 'replanned' | 'too many' | 'not found'>
}
