import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../instant.ts'
import type { AuditEntry } from './audit.ts'
import type { User } from './user.ts'

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

export interface UserSummary extends User {
  /** The user's active keys and servers. */
  apiKeys: number
  servers: number
}

/** With the names of the owner, and since when the owner is disabled. */
export type OwnedApiKey = ApiKey & Pick<User, 'email' | 'external_id' | 'disabled_at'>

/** With the names of the user. Both are null if the user is unknown or removed. */
export type OwnedAuditEntry = AuditEntry & Pick<User, 'email' | 'external_id'>

export interface AuditFilter {
  userId?: string | undefined
  since?: Instant | undefined
}
