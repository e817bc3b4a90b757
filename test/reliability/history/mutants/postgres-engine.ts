import pg from 'pg'
import { AuthenticationFault } from '../../../../src/model/faults.ts'
import { SERVERS_MAX, type ServerRow } from '../../../../src/model/server-row.ts'
import type { ServingStore } from '../../../../src/database/store.ts'

/** The obvious UPDATE, which stamps with a time from before it waited for the row. */
const PLAIN_UPDATE = `
  UPDATE api_keys SET last_used_at = clock_timestamp()
  WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= clock_timestamp() - interval '1 second')`

interface KeyRow {
  id: string
  user_id: string
  revoked_at: Date | null
}

/** Claims keys by the plain UPDATE. */
export function openFlawedEngine(
  url: string,
): Pick<ServingStore, 'claim'> & { close(): Promise<void> } {
  const pool = new pg.Pool({
    connectionString: url,
    max: 24,
    application_name: 'server-listing',
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  async function rowsOf<Row extends pg.QueryResultRow>(
    text: string,
    value: unknown,
  ): Promise<Row[]> {
    return (await pool.query<Row>(text, [value])).rows
  }

  return {
    async claim(keyHash) {
      try {
        const [found] = await rowsOf<KeyRow>(
          'SELECT id, user_id, revoked_at FROM api_keys WHERE key_hash = $1',
          keyHash,
        )
        if (found === undefined) return { outcome: 'unknown' }
        const { id: apiKeyId, user_id: userId, revoked_at } = found
        if (revoked_at !== null) return { outcome: 'revoked', apiKeyId }
        const rows = await rowsOf<ServerRow>(
          `SELECT id, name, slug, host_label, edition, status, version, listing_kind FROM servers
           WHERE created_by = $1 AND organization_id IS NULL
           ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}`,
          userId,
        )
        const { rowCount } = await pool.query(PLAIN_UPDATE, [apiKeyId])
        if (rowCount === 0) return { outcome: 'limited', apiKeyId }
        return { outcome: 'granted', apiKeyId, userId, revision: crypto.randomUUID(), rows }
      } catch (cause) {
        throw new AuthenticationFault('the database failed', { cause })
      }
    },
    close: () => pool.end(),
  }
}
