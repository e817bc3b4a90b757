import type { Instant } from '../../model/instant.ts'
import type { AuditEntry } from '../../model/audit.ts'
import type { User } from '../../accounts/user.ts'
import type { ApiKey } from '../../keys/api-key.ts'
import { type OwnedApiKey, withOwners } from '../../keys/records/owned-api-keys.ts'
import type { Database } from '../../database/database.ts'
import { at, inUuids, sql, uuid } from '../../database/sql.ts'
import { userColumns } from '../../accounts/records/user-columns.ts'

/** The database server or library, and the size of the database. */
export interface DatabaseFacts {
  engine: string
  version: string
  bytes: number
}

/** How many records the database has. */
export interface RecordCounts {
  users: number
  /** Without the revoked ones. */
  apiKeys: number
  servers: number
  organizations: number
}

export interface UserDetails extends User {
  email_issuer: string | null
  /** 1 with a password. */
  passwords: number
  servers: number
  /** Those of the servers that are in organizations. */
  organization_servers: number
  /** Null if the audit log has no sign-in. */
  last_sign_in_at: Instant | null
}

/** With the names of the user. Both are null if the user is unknown or removed. */
export type OwnedAuditEntry = AuditEntry & Pick<User, 'email' | 'external_id'>

export interface AuditFilter {
  userId?: string | undefined
  since?: Instant | undefined
}

export function operator(database: Database) {
  const { instant, databaseFacts, recentApiKeys, selectApiKeys } = database.dialect

  return {
    async describeDatabase(): Promise<DatabaseFacts> {
      return (await database.get<DatabaseFacts>(databaseFacts))!
    },

    async countRecords(): Promise<RecordCounts> {
      return (await database.get<RecordCounts>(sql`
        SELECT (SELECT count(*) FROM users) AS users,
          (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) AS "apiKeys",
          (SELECT count(*) FROM servers) AS servers,
          (SELECT count(*) FROM organizations) AS organizations`))!
    },

    async findUserDetails(userId: string): Promise<UserDetails | null> {
      // The last two conditions are those of the index on a user's events.
      return database.get<UserDetails>(sql`
        SELECT ${userColumns(database.dialect)}, email_issuer, passwords, servers,
          organization_servers, ${instant('last_sign_in_at')}
        FROM (SELECT users.*,
          (SELECT count(*) FROM passwords WHERE user_id = users.id) AS passwords,
          (SELECT count(*) FROM servers WHERE created_by = users.id) AS servers,
          (SELECT count(*) FROM servers WHERE created_by = users.id
            AND organization_id IS NOT NULL) AS organization_servers,
          (SELECT max(occurred_at) FROM audit_log WHERE user_id = users.id
            AND action IN ('sign-in', 'sign-up', 'sign-in link used', 'signed in by link')
            AND action <> 'sign-in refused' AND substr(action, 1, 6) <> 'server') AS last_sign_in_at
          FROM users WHERE id = ${uuid(userId)}) AS details`)
    },

    /** The keys that were used last, active or revoked, the latest first. */
    async listRecentApiKeys(keysMax: number): Promise<OwnedApiKey[]> {
      const recent = await database.all<{ id: string }>(recentApiKeys(keysMax))
      const apiKeys = await database.all<ApiKey>(
        selectApiKeys(sql`id ${inUuids(recent.map(({ id }) => id))}`),
      )
      const owned = await withOwners(database, apiKeys)
      return owned.toSorted((a, b) => (b.last_used_at ?? 0) - (a.last_used_at ?? 0))
    },

    /** The latest entries, refused sign-ins included, newest first: by default of all users. */
    async listAudit(
      entriesMax: number,
      { userId, since }: AuditFilter = {},
    ): Promise<OwnedAuditEntry[]> {
      const ofUser = userId === undefined ? sql`true` : sql`user_id = ${uuid(userId)}`
      const recent = since === undefined ? sql`true` : sql`occurred_at >= ${at(since)}`
      return database.all<OwnedAuditEntry>(sql`
        SELECT user_id, action, subject, address, users.email, users.external_id, ${instant('occurred_at')}
        FROM audit_log LEFT JOIN users ON users.id = user_id
        WHERE ${ofUser} AND ${recent}
        ORDER BY audit_log.occurred_at DESC, audit_log.id DESC LIMIT ${entriesMax}`)
    },
  }
}
