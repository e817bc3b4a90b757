import type { Instant } from '../listing/instant.ts'

/*
 * An archive is an SQLite file in the schema of this program, whichever engine wrote it. A stopped
 * service's own file is an archive, too.
 */

/** The type of a column's values, which decides how PostgreSQL reads and writes them. */
export type Kind = 'text' | 'uuid' | 'number' | 'instant' | 'bytes'

export interface ArchiveTable {
  name: string
  /** The columns that both engines have. */
  columns: Readonly<Record<string, Kind>>
  /** The columns that identify a row. */
  key: readonly string[]
}

/**
 * The tables of which an archive has the rows, each after those that it refers to. Last uses travel
 * beside them: one instant for each key, which SQLite has in `older_uses` and PostgreSQL in
 * `api_keys`. All other tables are empty in an archive, or are of one engine only.
 */
export const TABLES: readonly ArchiveTable[] = [
  {
    name: 'users',
    columns: {
      id: 'uuid',
      email: 'text',
      external_id: 'text',
      created_at: 'instant',
      disabled_at: 'instant',
    },
    key: ['id'],
  },
  {
    name: 'identities',
    columns: { issuer: 'text', subject: 'text', user_id: 'uuid' },
    key: ['issuer', 'subject'],
  },
  { name: 'passwords', columns: { user_id: 'uuid', hash: 'text' }, key: ['user_id'] },
  { name: 'organizations', columns: { id: 'uuid', slug: 'text', name: 'text' }, key: ['id'] },
  {
    name: 'members',
    columns: { organization_id: 'uuid', user_id: 'uuid', role: 'text', joined_at: 'instant' },
    key: ['organization_id', 'user_id'],
  },
  {
    name: 'invitations',
    columns: {
      id: 'uuid',
      organization_id: 'uuid',
      email: 'text',
      invited_by: 'uuid',
      invited_at: 'instant',
    },
    key: ['id'],
  },
  {
    name: 'servers',
    columns: {
      id: 'uuid',
      created_by: 'uuid',
      organization_id: 'uuid',
      name: 'text',
      slug: 'text',
      host_label: 'text',
      edition: 'text',
      status: 'text',
      version: 'text',
      listing_kind: 'text',
      updated_at: 'instant',
    },
    key: ['id'],
  },
  {
    name: 'api_keys',
    columns: {
      id: 'uuid',
      user_id: 'uuid',
      name: 'text',
      prefix: 'text',
      key_hash: 'bytes',
      created_at: 'instant',
      revoked_at: 'instant',
      disabled_at: 'instant',
    },
    key: ['key_hash'],
  },
  {
    name: 'revoked_hashes',
    columns: { key_hash: 'bytes', revoked_at: 'instant' },
    key: ['key_hash'],
  },
  {
    name: 'audit_log',
    columns: {
      id: 'uuid',
      occurred_at: 'instant',
      user_id: 'uuid',
      action: 'text',
      subject: 'text',
      address: 'text',
    },
    key: ['id'],
  },
  {
    name: 'use_counts',
    columns: {
      slot: 'number',
      api_key_id: 'uuid',
      answered: 'number',
      limited: 'number',
      revoked: 'number',
    },
    key: ['slot', 'api_key_id'],
  },
  {
    name: 'last_backup',
    columns: { only_row: 'number', made_at: 'instant' },
    key: ['only_row'],
  },
]

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
}

/** A restore that has been checked and has changed nothing yet. */
export interface PreparedRestore {
  plan: RestorePlan
  apply(): Promise<Restored>
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
