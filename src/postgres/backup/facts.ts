import type { ClientBase } from 'pg'
import { formatInstant } from '../../listing/instant.ts'
import type { BackupFacts } from '../../transfer/backup/backup.ts'

/** Counts what a database contains. */
export async function readFacts(client: Pick<ClientBase, 'query'>): Promise<BackupFacts> {
  const { rows } = await client.query(`
    SELECT
      (SELECT max(number) FROM schema_migrations) AS schema,
      (SELECT count(*) FROM users)::float8 AS users,
      (SELECT count(*) FROM servers)::float8 AS servers,
      (SELECT count(*) FROM api_keys)::float8 AS api_keys,
      (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL)::float8 AS active_api_keys,
      (SELECT (extract(epoch FROM max(last_used_at)) * 1000000)::float8 FROM api_keys) AS last_use`)
  const { last_use: lastUse, ...counts } = rows[0]
  return { ...counts, last_use: lastUse === null ? null : formatInstant(lastUse) }
}
