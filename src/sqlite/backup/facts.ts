import type { DatabaseSync } from 'node:sqlite'
import { formatInstant } from '../../listing/instant.ts'
import type { BackupFacts } from '../../transfer/backup/backup.ts'

/** Counts what a database contains. */
export function readFacts(database: DatabaseSync): BackupFacts {
  const number = (query: string): number =>
    Number(Object.values(database.prepare(query).get() ?? {})[0])
  const lastUse = database.prepare('SELECT max(last_used_at) AS at FROM api_key_uses').get()?.at
  return {
    schema: number('SELECT max(number) FROM schema_migrations'),
    users: number('SELECT count(*) FROM users'),
    servers: number('SELECT count(*) FROM servers'),
    api_keys: number('SELECT count(*) FROM api_keys'),
    active_api_keys: number('SELECT count(*) FROM api_keys WHERE revoked_at IS NULL'),
    last_use: typeof lastUse === 'number' ? formatInstant(lastUse) : null,
  }
}
