import type { AccountStore } from './accounts.ts'
import type { ApiKey } from './api-key.ts'
import type { Instant } from './instant.ts'
import type { InvitationStore } from './invitation.ts'
import type { OrganizationStore } from './organization.ts'
import type { RegisteredServerStore } from './registered-server.ts'
import type { Server, ServerRow } from './server.ts'
import type { ServerEntry } from './server-entry.ts'
import type { UseCountStore } from './use-counts.ts'
import type { User } from './user.ts'

/**
 * What the operator's commands and the dashboard ask of a store. Each method is one transaction: when its promise is
 * fulfilled the change survives a crash of the machine and every other process sees it; when it is rejected nothing
 * was changed.
 */
export interface Store
  extends AccountStore,
    OrganizationStore,
    InvitationStore,
    RegisteredServerStore {
  /** False if a user with this e-mail exists already. Of any number of concurrent callers one hears true. */
  insertUser(user: User): Promise<boolean>
  findUser(email: string): Promise<User | null>
  /** All users, by e-mail. */
  listUsers(): Promise<User[]>
  /**
   * Removes the user with all keys and servers; no use of the keys begins afterwards. An organization that would be
   * left without an owner gets its oldest member for one; one without members is removed, after servers of others were
   * given back as by `giveBackServers`. False if there is no such user. Not always one transaction: where it is rejected or cut off, the keys may be revoked and servers gone, and a
   * repetition does the rest.
   */
  removeUser(email: string): Promise<boolean>

  /**
   * Stores an active key under the hash of the full key. `at limit` if its user has `activeMax` active keys already: a
   * constraint decides, so concurrent callers in any number of processes never exceed it (spec 5.3.4). Revoked keys
   * are not counted. `known` if there is an api key with this id: a form that was sent twice.
   */
  insertApiKey(
    apiKey: ApiKey,
    keyHash: Uint8Array,
    activeMax: number,
  ): Promise<'stored' | 'at limit' | 'known'>
  /** The user's keys, oldest first: the active ones, and of the revoked ones all, or so many of the latest. */
  listApiKeys(userId: string, revokedMax?: number): Promise<ApiKey[]>
  /**
   * Revokes the user's key. From the moment the promise is fulfilled no use of it begins, in any process (spec 5.3.5).
   * Returns the record, whose `revoked_at` is the first revocation's; null if the user has no such key.
   */
  revokeApiKey(userId: string, id: string, revokedAt: Instant): Promise<ApiKey | null>
  /**
   * The same for the key with this hash, which leaked: whoever owns it, or only if `userId` does. Null if there is none.
   */
  revokeApiKeyByHash(
    keyHash: Uint8Array,
    revokedAt: Instant,
    userId?: string,
  ): Promise<ApiKey | null>

  /**
   * The id of the organization with this slug, which is made if there is none. The user is a member of it afterwards,
   * and its owner if it had no member.
   */
  ensureOrganization(slug: string, userId: string): Promise<string>
  /**
   * Writes the entries in their order, all or none. An entry whose slug (where it has none: whose address) the user
   * has already in the same place, personally or in that organization, changes that server and keeps what the entry
   * does not name.
   */
  saveServers(
    userId: string,
    organizationId: string | null,
    entries: readonly ServerEntry[],
    now: Instant,
  ): Promise<Saved>
  /** All servers the user registered, in organizations too, newest `updated_at` first, then by id descending. */
  listServers(userId: string): Promise<ServerRecord[]>

  /** Ends everything the store has open. Harmless when repeated. */
  close(): Promise<void>
}

/** How many entries became new servers, and how many changed one. */
export interface Saved {
  added: number
  updated: number
}

/** A server with what the public answer leaves out. */
export interface ServerRecord extends Server {
  /** The slug of the organization it is registered under; null for a personal server. */
  organization: string | null
  updated_at: Instant
}

/** A store that also answers the public API's requests. */
export interface ServingStore extends Store, UseCountStore {
  /**
   * Steps 3 to 6 of spec 5.2 as one act: look the key up, refuse it if it is revoked, apply the limit, read the list,
   * record the use.
   *
   * - Of concurrent calls with one key, in any number of processes, exactly one is `used`; two uses of a key are at
   *   least one second apart, measured from the moment the first was recorded to the moment the second was asked for.
   * - `used` is returned only after the use was committed. Every other outcome and every fault records nothing.
   * - A key is judged by what is committed when the act begins, never by what the caller or the store remembers.
   *
   * `recall` tells which revision of an owner's listing the caller still has, or null. It is asked at most once, with
   * the key's owner. The rows come back only where the listing is no longer in the state of that revision.
   *
   * Throws AuthenticationFault, ListFault or NotConfigured.
   */
  useApiKey(keyHash: Uint8Array, recall: Recall): Promise<Use>
}

export type Recall = (userId: string) => string | null

/** What became of one request with a key. */
export type Use =
  | { outcome: 'unknown' }
  | { outcome: 'revoked'; apiKeyId: string }
  | { outcome: 'too soon'; apiKeyId: string }
  | {
      outcome: 'used'
      apiKeyId: string
      userId: string
      revision: string
      /** At most SERVERS_MAX personal servers of the owner, newest first; null where what was recalled still holds. */
      rows: ServerRow[] | null
    }
