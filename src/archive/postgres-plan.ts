import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import type { Revocations } from '../listing/accounts/revocations.ts'
import type { Database } from '../postgres/database.ts'
import type { Facts } from './archive.ts'
import { rowsOf, withoutTimeouts } from './postgres-backup.ts'

/** Counts what a database contains. */
export async function readFacts(client: pg.ClientBase): Promise<Facts> {
  const { rows } = await client.query<Facts>(`
    SELECT (SELECT count(*) FROM users)::float8 AS users,
      (SELECT count(*) FROM servers)::float8 AS servers,
      (SELECT count(*) FROM api_keys)::float8 AS api_keys,
      (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL)::float8 AS active_api_keys`)
  return rows[0]!
}

/** Counts the archive's active keys that the database or one of the lists has as revoked. */
export async function countListed(
  database: Database,
  file: DatabaseSync,
  lists: readonly Revocations[],
  isNew: boolean,
): Promise<number> {
  const find = file.prepare('SELECT 1 FROM api_keys WHERE key_hash = ? AND revoked_at IS NULL')
  const found = new Set<string>()
  const look = (hash: Buffer) => {
    if (find.get(hash) !== undefined) found.add(hash.toString('hex'))
  }
  for (const list of lists) for (const hash of list.keys()) look(Buffer.from(hash, 'hex'))
  if (isNew) return found.size
  await database.transact(async (client) => {
    await withoutTimeouts(client)
    for await (const rows of rowsOf(client, 'SELECT key_hash FROM revoked_hashes'))
      for (const [hash] of rows) look(hash as Buffer)
  })
  return found.size
}
