/** What a database contained when a backup was made or is restored. */
export interface BackupFacts {
  /** The number of its newest migration. */
  schema: number
  users: number
  servers: number
  api_keys: number
  active_api_keys: number
  /** The instant of the latest 200, in ISO 8601; null if there was none. */
  last_use: string | null
}

/** A backup, as the file beside it describes it. */
export interface Manifest extends BackupFacts {
  /** The version of the program that made it. */
  program: string
  made_at: string
  bytes: number
  /** Of the backup, in hexadecimal. */
  sha256: string
}

/** What a restore is about to replace, and by what. */
export interface RestorePlan {
  backup: BackupFacts
  /** Null if there is no database yet, or none that can be read. */
  present: BackupFacts | null
  /** Why there is a database that can't be read, and so tells no revocations. Null otherwise. */
  unreadable: string | null
  /** Active keys of the backup that stay revoked. */
  revoked: number
}

export interface Restored extends RestorePlan {
  /** Where the replaced database is now; null if there was none. */
  kept: string | null
}

/** A restore that has been checked and has changed nothing yet. */
export interface PreparedRestore {
  plan: RestorePlan
  apply(): Promise<Restored>
  /** Gives up what the preparation holds. Also call it after `apply`. */
  close(): Promise<void>
}

/** A backup could not be made. There is no new file. The message is for the operator. */
export class NotBackedUp extends Error {
  override name = 'NotBackedUp'
}

/**
 * A backup could not be restored. Nothing has changed unless the message says so, which is for the
 * operator.
 */
export class NotRestored extends Error {
  override name = 'NotRestored'
}
