import type { Instant } from '../instant.ts'
import type { Histogram } from './histogram.ts'

/** What the operator's health checks and metrics ask of a serving store. */
export interface HealthStore {
  /**
   * Has the engine decide a claim with a key that no user can have, ahead of all waiting claims.
   * The probe takes the same path as every claim and records nothing. Throws what `claim` throws.
   */
  probeClaims(): Promise<void>
  /**
   * Reads which migrations the database has. Throws NotConfigured if this program can't work with
   * them, and AuthenticationFault if it can't read them.
   */
  checkSchema(): Promise<void>
  /** What the data plane has counted since the start. Asks no database. */
  readCounts(): StoreCounts
  /** Asks the database or the system for what grows. Rejects if there is no answer. */
  measure(): Promise<Measures>
}

export interface StoreCounts {
  claims: ClaimCounts
  /** Open connections, by what they are for. Empty on an engine without a pool. */
  pools: Record<string, PoolCounts>
}

export interface ClaimCounts {
  /** Batches by their number of claims. */
  batchSizes: Histogram
  /** Batches by how long their first claim waited, in milliseconds. */
  waits: Histogram
  /** Claims that waited too long and were rejected without a decision. */
  shed(): number
}

export interface PoolCounts {
  busy: number
  idle: number
  /** Callers that wait for a connection. */
  waiting: number
}

export interface Measures {
  databaseBytes: number
  /** The write-ahead log. Null on an engine where it belongs to the whole server. */
  logBytes: number | null
  /** What is free on the disk of the database. Null where another machine may have it. */
  diskFreeBytes: number | null
  /** When the last backup was made. Null if there was none. */
  lastBackupAt: Instant | null
}

/** The fault of `checkSchema` after another program has put an older schema in place. */
export const OLD_SCHEMA =
  'the database has the schema of an older version, perhaps from a backup: restart the service, ' +
  'which migrates it'
