import type { Instant } from './instant.ts'
import type { Server, ServerRow } from './server.ts'

/** Servers on one page. */
export const PAGE_SIZE = 50
/** How many of the newest servers are looked through: a page further back is not offered. */
export const SEARCHED_MAX = 2_000

/** Servers that one user may register here, personally and under organizations; an operator's import can go beyond. */
export const REGISTERED_MAX = 500

/** A server as the dashboard has it: what a person can set, and where it stands. */
export interface RegisteredServer extends Server {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

/** What a person sets; the store adds the rest. */
export type ServerFields = Omit<Server, 'id'> & { organization_id: string | null }

export interface ServerSearch {
  /** Text that name, address or slug must have; empty for all. */
  text: string
  /** From 1. */
  page: number
}

export interface ServerPage {
  servers: RegisteredServer[]
  /** All that match among the newest SEARCHED_MAX. */
  total: number
}

/**
 * `slug taken` where the owner has another server of this slug in the same place; `not found` where there is no such
 * server, or no such organization.
 */
export type Written = 'written' | 'slug taken' | 'not found'

/**
 * What the dashboard asks of a store about servers. Each statement is scoped to the user: what somebody else
 * registered is as if it were not there.
 */
export interface RegisteredServerStore {
  /** The user's personal servers, newest first. */
  searchServers(userId: string, search: ServerSearch): Promise<ServerPage>
  /** The servers of an organization, whoever registered them; none for who is no member. */
  searchOrganizationServers(
    userId: string,
    organizationId: string,
    search: ServerSearch,
  ): Promise<ServerPage>
  /** One that the user registered. */
  findServer(userId: string, id: string): Promise<RegisteredServer | null>
  /** One that the user registered, or that is under an organization the user is a member of. */
  findSeenServer(userId: string, id: string): Promise<RegisteredServer | null>
  /** `known` where this id was registered before: a form that was sent twice. `too many` beyond REGISTERED_MAX. */
  insertServer(
    userId: string,
    id: string,
    fields: ServerFields,
    now: Instant,
  ): Promise<Written | 'known' | 'too many'>
  /** Also moves it: to an organization the user is a member of, or back. */
  updateServer(userId: string, id: string, fields: ServerFields, now: Instant): Promise<Written>
  setServerStatus(userId: string, id: string, status: string, now: Instant): Promise<boolean>
  removeServer(userId: string, id: string): Promise<boolean>
  /** The rows that the API would answer this user's key with, now (spec 4.1). */
  previewListing(userId: string): Promise<ServerRow[]>
}
