import type { Instant } from '../model/instant.ts'
import type { Database, Transaction } from './database.ts'
import { at, sql } from './sql.ts'

/** Replaces the instant of the backup before. */
export async function writeLastBackup(transaction: Transaction, madeAt: Instant): Promise<void> {
  await transaction.run(sql`
    INSERT INTO last_backup (only_row, made_at) VALUES (1, ${at(madeAt)})
    ON CONFLICT (only_row) DO UPDATE SET made_at = excluded.made_at`)
}

/** When the last backup was made. Null if the database has no record of one. */
export async function findLastBackup({ get, dialect }: Database): Promise<Instant | null> {
  const row = await get<{ made_at: Instant }>(
    sql`SELECT ${dialect.instant('made_at')} FROM last_backup`,
  )
  return row?.made_at ?? null
}
