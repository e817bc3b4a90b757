import { createHash } from 'node:crypto'

/*
 * What an assembly does with the database: look the key up, list the owner's servers, note the use.
 * The tables of keys and servers are the service's own. `database` is one of better-sqlite3 or of
 * bun:sqlite, whose statements have the same methods.
 */

export function openListing(database) {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS peer_uses (api_key_id TEXT PRIMARY KEY, used_at INTEGER NOT NULL)`)
  const findKey = database.prepare(
    'SELECT id, user_id FROM api_keys WHERE key_hash = ? AND revoked_at IS NULL',
  )
  const listServers = database.prepare(`
    SELECT id, name, slug, host_label AS address, edition, status, version, listing_kind FROM servers
    WHERE created_by = ? AND organization_id IS NULL ORDER BY updated_at DESC, id DESC LIMIT 100`)
  const noteUse = database.prepare(`
    INSERT INTO peer_uses VALUES (?, ?)
    ON CONFLICT (api_key_id) DO UPDATE SET used_at = excluded.used_at`)
  return {
    /** The row of a key that is not revoked, or nothing. */
    findKey: (key) => findKey.get(createHash('sha256').update(key).digest()),
    /** The listing of a key's owner. Notes the use. */
    serversFor({ id, user_id }) {
      const servers = listServers.all(user_id)
      noteUse.run(id, Date.now())
      return { servers }
    },
  }
}

export const UNAUTHORIZED = { error: 'Invalid or missing API key.' }
export const LIMITED = { error: 'Rate limit exceeded', limit: '1 rps' }
