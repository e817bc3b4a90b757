import type { Instant } from '../listing/instant.ts'
import type { Database } from './database.ts'
import { at, sql } from './sql.ts'

export function lastBackup(database: Database) {
  const { instant } = database.dialect

  return {
    /** Replaces the instant of the backup before. */
    async recordBackup(madeAt: Instant): Promise<void> {
      await database.run(sql`
        INSERT INTO last_backup (only_row, made_at) VALUES (1, ${at(madeAt)})
        ON CONFLICT (only_row) DO UPDATE SET made_at = excluded.made_at`)
    },

    /** Null if `recordBackup` was never called. */
    async findLastBackup(): Promise<Instant | null> {
      const row = await database.get<{ made_at: Instant }>(
        sql`SELECT ${instant('made_at')} FROM last_backup`,
      )
      return row?.made_at ?? null
    },
  }
}
