import type { ApiKey } from '../listing/api-key.ts'
import type { Store } from '../listing/store.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'
import { isUuid } from './uuid.ts'

const COLUMNS = [
  'id, user_id, name, prefix',
  microsecondsOf('created_at'),
  microsecondsOf('revoked_at'),
  microsecondsOf('last_used_at'),
].join(', ')

export function apiKeys(
  database: Database,
): Pick<Store, 'insertApiKey' | 'listApiKeys' | 'revokeApiKey' | 'revokeApiKeyByHash'> {
  return {
    async insertApiKey(apiKey, keyHash, activeMax) {
      const { id, user_id, name, prefix, created_at } = apiKey
      // Somebody else may take the free place first: each try finds one fewer, or none.
      for (let tries = 0; tries <= activeMax; tries += 1) {
        const inserted = await database.query<{
          id: string | null
          slot: number | null
          is_known: boolean
        }>(
          `WITH free AS (
             SELECT min(slot) AS slot FROM generate_series(1, $7::int) AS slots (slot)
             WHERE slot NOT IN (SELECT slot FROM api_keys WHERE user_id = $2 AND revoked_at IS NULL)
           ), inserted AS (
             INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
             SELECT $1, $2, $3, $4, $5, ${timestampOf('$6')}, slot FROM free WHERE slot IS NOT NULL
             ON CONFLICT DO NOTHING
             RETURNING id
           )
           SELECT inserted.id, slot, EXISTS (SELECT FROM api_keys WHERE id = $1) AS is_known
           FROM free LEFT JOIN inserted ON true`,
          [id, user_id, name, prefix, keyHash, created_at, activeMax],
        )
        const { id: stored, slot, is_known: isKnown } = inserted[0]!
        if (stored !== null) return 'stored'
        if (isKnown) return 'known'
        if (slot === null) return 'at limit'
      }
      return 'at limit'
    },

    async listApiKeys(userId, revokedMax) {
      const rows = await database.query<ApiKeyRow>(
        `SELECT ${COLUMNS} FROM api_keys WHERE user_id = $1 AND (revoked_at IS NULL OR id IN (
           SELECT id FROM api_keys WHERE user_id = $1 AND revoked_at IS NOT NULL ORDER BY revoked_at DESC LIMIT $2
         )) ORDER BY api_keys.created_at, id`,
        [userId, revokedMax ?? null],
      )
      return rows.map(toApiKey)
    },

    // The first revocation's instant stays: a second one changes nothing.
    async revokeApiKey(userId, id, revokedAt) {
      if (!isUuid(id)) return null
      const rows = await database.query<ApiKeyRow>(
        `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${timestampOf('$1')})
         WHERE user_id = $2 AND id = $3 RETURNING ${COLUMNS}`,
        [revokedAt, userId, id],
      )
      return rows[0] === undefined ? null : toApiKey(rows[0])
    },

    async revokeApiKeyByHash(keyHash, revokedAt, userId) {
      const rows = await database.query<ApiKeyRow>(
        `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${timestampOf('$1')})
         WHERE key_hash = $2 AND ($3::uuid IS NULL OR user_id = $3) RETURNING ${COLUMNS}`,
        [revokedAt, keyHash, userId ?? null],
      )
      return rows[0] === undefined ? null : toApiKey(rows[0])
    },
  }
}

type Instants = 'created_at' | 'revoked_at' | 'last_used_at'
type ApiKeyRow = Omit<ApiKey, Instants> & Record<Instants, string | null>

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    ...row,
    created_at: Number(row.created_at),
    revoked_at: toInstant(row.revoked_at),
    last_used_at: toInstant(row.last_used_at),
  }
}
