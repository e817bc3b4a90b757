import type { Database } from './database.ts'
import type { ClaimStore } from '../model/claim.ts'
import type { HealthStore } from '../model/health/health.ts'

/** What a command opens. */
export interface Store {
  /** For the records of a noun, such as `apiKeys(database)`. */
  readonly database: Database
  /** False if certainly no process answers requests from this database at the moment. */
  isServed(): boolean
  /** Ends everything the store has open. Harmless when repeated. */
  close(): Promise<void>
}

/** A store that also answers the public API's requests. Its database may not be reachable yet. */
export interface ServingStore extends Store, ClaimStore, HealthStore {
  /** Writes usage counts: on SQLite, a commit of any other connection empties the caches. */
  readonly counting: Database
  /** Connects and updates the schema. Throws NotConfigured or AuthenticationFault. */
  prepare(): Promise<void>
}
