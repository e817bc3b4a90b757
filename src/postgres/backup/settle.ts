import type { Instant } from '../../listing/instant.ts'
import { lastBackup } from '../../management/last-backup.ts'
import type { Database } from '../database.ts'
import { managementConnection } from '../management-connection.ts'

/**
 * Ends the sessions and links of a restored dump. The dump, which was made at `madeAt`, becomes its
 * last backup: it knows only of the one before.
 */
export async function settle(fresh: Database, madeAt: Instant | null): Promise<void> {
  await fresh.query(`DELETE FROM sessions`)
  await fresh.query(`DELETE FROM sign_in_links`)
  await fresh.query(`DELETE FROM secrets WHERE name = 'setup'`)
  if (madeAt !== null) await lastBackup(managementConnection(fresh)).recordBackup(madeAt)
}
