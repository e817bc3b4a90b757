import type { DeclaredState, StateComplaint } from '../../listing/state/declared-state.ts'
import type { Database } from '../../management/database.ts'
import { bytes, sql, uuids } from '../../management/sql.ts'
import { journalOf, readJournals } from './journal.ts'

/**
 * What a state would bring back although the journal has it as revoked: keys and users of which the
 * file has no row any more. The next start of the service would revoke them again.
 */
export async function findRevived(
  { users }: DeclaredState,
  database: Database,
  path: string,
): Promise<StateComplaint[]> {
  const journal = readJournals([journalOf(path)])
  const removed = users.filter(({ id }) => id !== undefined && journal.users.has(id))
  const revoked = users
    .flatMap(({ keys = [] }) => keys)
    .filter(({ hash, revoked_at }) => !revoked_at && journal.keys.has(hash))
  if (removed.length + revoked.length === 0) return []
  const hashes = bytes(revoked.map(({ hash }) => Buffer.from(hash, 'hex')))
  const ids = uuids(removed.map(({ id }) => id!))
  const keyRows = await database.all<{ key_hash: Uint8Array }>(
    sql`SELECT key_hash FROM api_keys WHERE key_hash IN (${hashes})`,
  )
  const userRows = await database.all<{ id: string }>(
    sql`SELECT id FROM users WHERE id IN (${ids})`,
  )
  const known = new Set(keyRows.map(({ key_hash }) => Buffer.from(key_hash).toString('hex')))
  const present = new Set(userRows.map(({ id }) => id))
  return [
    ...removed
      .filter(({ id }) => !present.has(id!))
      .map(({ place }) => ({
        place: `${place}.id`,
        message: 'is the id of a user that was removed; leave it out to add a new user',
      })),
    ...revoked
      .filter(({ hash }) => !known.has(hash))
      .map(({ place }) => ({
        place: `${place}.key_hash`,
        message: 'is of a key that was revoked here, and stays revoked; issue a new key',
      })),
  ]
}
