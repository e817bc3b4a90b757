import { HOUR_US } from '../model/instant.ts'

/** How long a change can be undone. */
export const UNDO_US = HOUR_US
/** The user's latest changes that can be undone. */
export const CHANGES_MAX = 20

/** One status for several servers of a user, or their deletion. */
export interface WantedChange {
  /** A form sent twice has one id, and changes the servers once. */
  id: string
  /** Null deletes the servers. */
  status: string | null
  /** Ids of servers. The store ignores servers of other users. */
  servers: readonly string[]
}

/** A change as the store made it. */
export interface BulkChange {
  id: string
  status: string | null
  /** The servers that it changed. A server that had the status already is not one of them. */
  changed: { id: string; name: string }[]
  /**
   * Null until the user undoes the change. Then how many servers are as before; the others have
   * changed since, or have no place any more.
   */
  restored: number | null
}
