import type { DatabaseSync } from 'node:sqlite'
import type { ApiKey } from '../listing/api-key.ts'
import type { Store } from '../listing/store.ts'
import { transact } from './database.ts'

const COLUMNS = 'id, user_id, name, prefix, created_at, revoked_at'
/**
 * As the view api_key_uses has it, of these keys alone: what was appended last is looked through for them, and not
 * sorted by all.
 */
const withLastUse = (keys: string) => `
  SELECT ${COLUMNS}, coalesce(latest.used_at, last_uses.used_at) AS last_used_at FROM api_keys
  LEFT JOIN (
    SELECT api_key, used_at, max(number) FROM uses
    WHERE api_key IN (SELECT serial FROM api_keys WHERE ${keys}) GROUP BY api_key
  ) AS latest ON latest.api_key = serial
  LEFT JOIN last_uses ON last_uses.api_key = serial
  WHERE ${keys}
`

/** What LIMIT takes for no limit. */
const ALL = -1

export function apiKeys(
  database: DatabaseSync,
): Pick<Store, 'insertApiKey' | 'listApiKeys' | 'revokeApiKey' | 'revokeApiKeyByHash'> {
  const freeSlot = database.prepare(`
    WITH RECURSIVE slots (slot) AS (SELECT 1 UNION ALL SELECT slot + 1 FROM slots WHERE slot < :max)
    SELECT min(slot) AS slot FROM slots WHERE slot NOT IN
      (SELECT slot FROM api_keys WHERE user_id = :user_id AND revoked_at IS NULL)
  `)
  const known = database.prepare('SELECT 1 FROM api_keys WHERE id = ?')
  const insert = database.prepare(`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot) VALUES (?, ?, ?, ?, ?, ?, ?)
  `)
  const list = database.prepare(
    `${withLastUse(`user_id = ?1 AND (revoked_at IS NULL OR serial IN
       (SELECT serial FROM api_keys WHERE user_id = ?1 AND revoked_at IS NOT NULL ORDER BY revoked_at DESC LIMIT ?2))`)}
     ORDER BY created_at, serial`,
  )
  const find = database.prepare(withLastUse('id = ?1'))
  // The first revocation's instant stays: a second one changes nothing.
  const revoke = database.prepare(`
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE user_id = ? AND id = ? RETURNING id
  `)
  const revokeByHash = database.prepare(`
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?1)
    WHERE key_hash = ?2 AND (?3 IS NULL OR user_id = ?3) RETURNING id
  `)

  function read(id: string): ApiKey | null {
    const row = find.get(id)
    return row === undefined ? null : toApiKey(row)
  }

  return {
    async insertApiKey(apiKey, keyHash, activeMax) {
      return transact(database, () => {
        if (known.get(apiKey.id) !== undefined) return 'known'
        const slot = freeSlot.get({ max: activeMax, user_id: apiKey.user_id })?.slot ?? null
        if (slot === null) return 'at limit'
        const { id, user_id, name, prefix, created_at } = apiKey
        insert.run(id, user_id, name, prefix, keyHash, created_at, slot)
        return 'stored'
      })
    },

    async listApiKeys(userId, revokedMax = ALL) {
      return list.all(userId, revokedMax).map(toApiKey)
    },

    async revokeApiKey(userId, id, revokedAt) {
      return transact(database, () => {
        const revoked = revoke.get(revokedAt, userId, id)
        return revoked === undefined ? null : read(id)
      })
    },

    async revokeApiKeyByHash(keyHash, revokedAt, userId) {
      return transact(database, () => {
        const revoked = revokeByHash.get(revokedAt, keyHash, userId ?? null)
        return revoked === undefined ? null : read(revoked.id as string)
      })
    },
  }
}

function toApiKey(row: object): ApiKey {
  return { ...row } as ApiKey
}
