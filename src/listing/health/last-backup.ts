import type { Instant } from '../instant.ts'

/** When the last backup was made, for the operator's alerts. */
export interface LastBackupStore {
  /** Replaces the instant of the backup before. */
  recordBackup(madeAt: Instant): Promise<void>
  /** Null if `recordBackup` was never called. */
  findLastBackup(): Promise<Instant | null>
}
