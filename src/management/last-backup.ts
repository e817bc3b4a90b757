import type { Instant } from '../listing/instant.ts'
import type { LastBackupStore } from '../listing/health/last-backup.ts'
import type { Database } from './database.ts'
import { at, sql } from './sql.ts'

export function lastBackup(database: Database): LastBackupStore {
  const { instant } = database.dialect

  return {
    async recordBackup(madeAt) {
      await database.run(sql`
        INSERT INTO last_backup (only_row, made_at) VALUES (1, ${at(madeAt)})
        ON CONFLICT (only_row) DO UPDATE SET made_at = excluded.made_at`)
    },

    async findLastBackup() {
      const row = await database.get<{ made_at: Instant }>(
        sql`SELECT ${instant('made_at')} FROM last_backup`,
      )
      return row?.made_at ?? null
    },
  }
}
