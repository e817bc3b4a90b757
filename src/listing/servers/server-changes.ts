import { HOUR_US, type Instant } from '../instant.ts'

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
export interface ServerChange {
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

/** Changes of servers that the user can undo for a while. */
export interface ServerChangeStore {
  /**
   * Changes the servers in one transaction. A status needs membership in the server's organization;
   * a deletion does not. If this id is known, returns that change. Null if no server is left to
   * change: none of them is this user's.
   */
  changeServers(userId: string, change: WantedChange, now: Instant): Promise<ServerChange | null>
  /** A change of this user that is younger than UNDO_US. */
  findServerChange(userId: string, id: string, now: Instant): Promise<ServerChange | null>
  /**
   * Gives the servers their former status and instant, or registers deleted ones again with their
   * ids and values. Leaves a server as it is if it has changed since, if its slug is taken, if the
   * user is no member of its organization any more, or if the user has REGISTERED_MAX servers.
   * Undoing twice undoes once. Null if there is no such change.
   */
  undoServerChange(userId: string, id: string, now: Instant): Promise<ServerChange | null>
}
