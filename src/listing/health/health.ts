/** What the operator's health checks ask of a serving store. */
export interface HealthStore {
  /**
   * Has the engine decide a claim with a key that no user can have, ahead of all waiting claims. It
   * takes the same way as every claim and records nothing. Throws what `claim` throws.
   */
  probeClaims(): Promise<void>
  /**
   * Reads which migrations the database has. Throws NotConfigured if this program can't work with
   * them, and AuthenticationFault if it can't read them.
   */
  checkSchema(): Promise<void>
}

/** The fault of `checkSchema` after another program has put an older schema in place. */
export const OLD_SCHEMA =
  'the database has the schema of an older version, perhaps from a backup: restart the service, ' +
  'which migrates it'
