import type { Actor, AuditAction } from '../model/audit.ts'
import type { Instant } from '../model/instant.ts'
import { count, countOf } from '../model/text.ts'

/*
 * An archive is an SQLite file in the schema of this program, whichever engine wrote it. A stopped
 * service's own file is an archive, too.
 */

/** The type of a column's values, which decides how PostgreSQL reads and writes them. */
export type Kind = 'text' | 'uuid' | 'integer' | 'instant' | 'bytes'

export interface ArchiveTable {
  name: string
  /** The columns that identify a row. If one of them differs, it is another row. */
  key: readonly string[]
  /** The columns that both engines have. */
  columns: Readonly<Record<string, Kind>>
}

/**
 * The tables of which an archive has the rows, each after those that it refers to. Last uses travel
 * beside them: one instant for each key, which SQLite has in `older_claims` and PostgreSQL in
 * `api_keys`. All other tables are empty in an archive, or are of one engine only.
 */
export const TABLES: readonly ArchiveTable[] = [
  tableOf('users', 'id', {
    uuid: 'id',
    text: 'email external_id email_issuer',
    instant: 'created_at disabled_at banned_at',
  }),
  tableOf('identities', 'issuer subject', { text: 'issuer subject', uuid: 'user_id' }),
  tableOf('passwords', 'user_id', { uuid: 'user_id', text: 'hash' }),
  tableOf('organizations', 'id', { uuid: 'id', text: 'slug name' }),
  tableOf('members', 'organization_id user_id', {
    uuid: 'organization_id user_id',
    text: 'role',
    instant: 'joined_at',
  }),
  tableOf('invitations', 'id organization_id email', {
    uuid: 'id organization_id invited_by',
    text: 'email',
    instant: 'invited_at',
  }),
  tableOf('servers', 'id', {
    uuid: 'id created_by organization_id',
    text: 'name slug host_label edition status version listing_kind',
    instant: 'updated_at',
  }),
  tableOf('revoked_hashes', 'key_hash', { bytes: 'key_hash', instant: 'revoked_at' }),
  tableOf('api_keys', 'id key_hash', {
    uuid: 'id user_id',
    text: 'name prefix',
    bytes: 'key_hash',
    instant: 'created_at revoked_at disabled_at',
  }),
  tableOf('audit_log', 'id', {
    uuid: 'id user_id',
    text: 'action subject address',
    instant: 'occurred_at',
  }),
  tableOf('usage_counts', 'slot api_key_id', {
    integer: 'slot answered limited revoked',
    uuid: 'api_key_id',
  }),
  tableOf('last_backup', 'only_row', { integer: 'only_row', instant: 'made_at' }),
]

/** The tables in which SQLite has last uses. A restore reads one instant for each key from them. */
export const CLAIMS: readonly ArchiveTable[] = [
  tableOf('recent_claims', 'number', { integer: 'number api_key', instant: 'claimed_at' }),
  tableOf('last_claims', 'api_key', { integer: 'api_key', instant: 'claimed_at' }),
  tableOf('older_claims', 'api_key', { integer: 'api_key', instant: 'claimed_at' }),
]

function tableOf(
  name: string,
  key: string,
  columnsOf: Readonly<Partial<Record<Kind, string>>>,
): ArchiveTable {
  const columns = Object.entries(columnsOf).flatMap(([kind, names]) =>
    names.split(' ').map((column) => [column, kind as Kind] as const),
  )
  return { name, key: key.split(' '), columns: Object.fromEntries(columns) }
}

/** Tables of both engines that a restore empties: they are about one process or browser. */
export const ENDED = [
  'sessions',
  'sign_in_links',
  'sign_in_attempts',
  'secrets',
  'checked_imports',
  'server_changes',
] as const

/** What an archive or a database contains. */
export interface Facts {
  users: number
  servers: number
  api_keys: number
  active_api_keys: number
}

export interface ArchiveFacts extends Facts {
  /** When the archive was made. Null for a service's own file that was never backed up. */
  made_at: Instant | null
}

/** Rows that break rules of the schema in one way. */
export interface BrokenRows {
  /** What is wrong with them. */
  found: string
  /** The first ones, each by its table, its id and the column. */
  first: readonly string[]
  count: number
  /** What mends them. */
  remedy: string
}

/** How many rows break a rule, which rule, and the first of them. A caller adds the remedy. */
export function describeBroken({ found, first, count: all }: BrokenRows): string {
  const others = all > first.length ? ` and ${count(all - first.length)} more` : ''
  return `${countOf(all, 'row')} ${found}: ${first.join(', ')}${others}`
}

/** What a backup has written. Rows that break rules are in the archive, too. */
export interface BackedUp extends ArchiveFacts {
  broken: readonly BrokenRows[]
  /** Whether the database may have what this program does not know, and so could not write. */
  is_partial: boolean
}

/** What a restore is about to replace, and by what. */
export interface RestorePlan {
  archive: ArchiveFacts
  /** Null if the database has no tables yet. */
  present: Facts | null
  /** Keys that are active in the archive, and stay revoked because a list has their hash. */
  revoked: number
}

export interface Restored extends RestorePlan {
  /** The archive of what was replaced; null if there was nothing. */
  kept: string | null
  /** What failed after the commit; null if nothing. */
  fault: Error | null
}

/** The entry of a restore, which is beside the rows of the archive. */
export function entryOf(path: string, { address, at }: Actor) {
  const action: AuditAction = 'database restored'
  return { id: crypto.randomUUID(), occurred_at: at, action, subject: path, address }
}

/** Throws NotRestored if other programs have attached something to our tables. */
export function assertFree(attached: readonly string[], prefix = ''): void {
  if (attached.length === 0) return
  throw new NotRestored(
    `${prefix}another program has attached ${attached.join(', ')}. A restore ` +
      'replaces all rows, and would change what belongs to that program: drop these first, and ' +
      'create them again afterwards. If a newer server-listing attached them, restore into a new ' +
      'database',
  )
}

/** A restore that has been checked and has changed nothing yet. */
export interface PreparedRestore {
  plan: RestorePlan
  apply(actor: Actor): Promise<Restored>
  /** Gives up what the preparation holds. Also call it after `apply`. */
  close(): Promise<void>
}

/** An archive could not be written. There is no new file. The message is for the operator. */
export class NotBackedUp extends Error {
  override name = 'NotBackedUp'
}

/** An archive could not be restored, and nothing has changed. The message is for the operator. */
export class NotRestored extends Error {
  override name = 'NotRestored'
}
