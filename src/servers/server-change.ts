import type { AuditAction } from '../model/audit.ts'
import { HOUR_US } from '../model/instant.ts'
import type { Matching } from './server-search.ts'

/** How long a change can be undone. */
export const UNDO_US = HOUR_US
/** The user's latest changes that can be undone. */
export const CHANGES_MAX = 20
/** Characters that these changes take together. The latest one may take more. */
export const CHANGES_SIZE_MAX = 4_000_000

/** What each server of a change becomes. Null deletes it. */
export type Becomes = { status: string } | { organization_id: string | null } | null

/** Ids of servers, or all that match a search. */
export type Selection = readonly string[] | Matching

/** One status for several servers of a user, another place, or their deletion. */
export interface WantedChange {
  /** A form sent twice has one id, and changes the servers once. */
  id: string
  becomes: Becomes
  /** The store ignores servers of other users. */
  servers: Selection
}

/** What a change did, as its entry in the audit log says. */
export type ChangeAction = Extract<
  AuditAction,
  | 'server changed'
  | 'servers published'
  | 'servers unpublished'
  | 'servers removed'
  | 'servers moved'
  | 'servers imported'
>

export interface NamedServer {
  id: string
  name: string
}

/** A change as the store made it. */
export interface ServerChange {
  id: string
  action: ChangeAction
  /** The servers that it changed. A server that was so already is not one of them. */
  changed: NamedServer[]
  /** How many of these are new. */
  added: number
  /** The organization to which it moved servers, or null for personal ones. */
  movedTo?: string | null
  /** How it changed the user's listing, which has at most SERVERS_MAX servers. */
  entered: NamedServer[]
  left: NamedServer[]
  /**
   * Null until the user undoes the change. Then how many servers are as before; the others have
   * changed since, or have no place any more.
   */
  restored: number | null
}
