import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../instant.ts'
import type { AuditEntry } from './audit.ts'

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

export interface UserSummary {
  id: string
  email: string
  created_at: Instant
  /** The user's active keys and servers. */
  apiKeys: number
  servers: number
}

/** With the email address of the owner. */
export type OwnedApiKey = ApiKey & { email: string }

/** With the email address of the user, null if the user is unknown or removed. */
export type OwnedAuditEntry = AuditEntry & { email: string | null }

export interface AuditFilter {
  userId?: string | undefined
  since?: Instant | undefined
}

/** What the operator's page reads, across all users. */
export interface OperatorStore {
  describeDatabase(): Promise<DatabaseFacts>
  countRecords(): Promise<RecordCounts>
  listNewestUsers(usersMax: number): Promise<UserSummary[]>
  /** The keys that were used last, active or revoked, the latest first. */
  listRecentApiKeys(keysMax: number): Promise<OwnedApiKey[]>
  /** The latest entries, refused sign-ins included, newest first: by default of all users. */
  listAudit(entriesMax: number, filter?: AuditFilter): Promise<OwnedAuditEntry[]>
}
