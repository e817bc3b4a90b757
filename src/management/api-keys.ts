import type { ApiKey, ApiKeyStore } from '../listing/api-key.ts'
import type { Instant } from '../listing/instant.ts'
import type { Database, Queries } from './database.ts'
import { at, bytes, type Sql, sql, uuid, uuids } from './sql.ts'

export function apiKeys(database: Database): ApiKeyStore {
  const { selectApiKeys } = database.dialect

  return {
    async insertApiKey({ id, user_id, name, prefix, created_at }, keyHash, activeMax) {
      return database.transact(async (transaction) => {
        // Another process may take the free slot first. Each try then finds one slot fewer.
        for (let tries = 0; tries <= activeMax; tries += 1) {
          const known = await transaction.get(sql`SELECT 1 FROM api_keys WHERE id = ${uuid(id)}`)
          if (known !== null) return 'known'
          const slot = await findFreeSlot(transaction, user_id, activeMax)
          if (slot === null) return 'at limit'
          const inserted = await transaction.run(sql`
            INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
            VALUES (${uuid(id)}, ${uuid(user_id)}, ${name}, ${prefix}, ${keyHash}, ${at(created_at)}, ${slot})
            ON CONFLICT DO NOTHING`)
          if (inserted === 1) return 'stored'
        }
        return 'at limit'
      })
    },

    async listApiKeys(userId, revokedMax) {
      const user = uuid(userId)
      const limit = revokedMax === undefined ? sql`` : sql`LIMIT ${revokedMax}`
      const listed = sql`user_id = ${user} AND (revoked_at IS NULL OR id IN (
        SELECT id FROM api_keys WHERE user_id = ${user} AND revoked_at IS NOT NULL
        ORDER BY revoked_at DESC ${limit}
      ))`
      return database.all<ApiKey>(sql`${selectApiKeys(listed)} ORDER BY api_keys.created_at, id`)
    },

    async findApiKeys(ids, userId) {
      const owned = userId === undefined ? sql`` : sql`AND user_id = ${uuid(userId)}`
      return database.all<ApiKey>(selectApiKeys(sql`id IN (${uuids(ids)}) ${owned}`))
    },

    async revokeApiKey(userId, id, revokedAt) {
      return database.transact(async (transaction) => {
        const revoked = await transaction.run(
          revocationOf(sql`user_id = ${uuid(userId)} AND id = ${uuid(id)}`, revokedAt),
        )
        if (revoked === 0) return null
        return transaction.get<ApiKey>(selectApiKeys(sql`id = ${uuid(id)}`))
      })
    },

    async revokeApiKeysByHash(keyHashes, revokedAt, userId) {
      const owned = userId === undefined ? sql`` : sql`AND user_id = ${uuid(userId)}`
      return database.transact(async (transaction) => {
        const found = await transaction.all<{ id: string }>(
          sql`SELECT id FROM api_keys WHERE key_hash IN (${bytes(keyHashes)}) ${owned}`,
        )
        const ids = found.map(({ id }) => id)
        await transaction.lock('api_keys', ids)
        await transaction.run(revocationOf(sql`id IN (${uuids(ids)})`, revokedAt))
        return transaction.all<ApiKey>(selectApiKeys(sql`id IN (${uuids(ids)})`))
      })
    },
  }
}

/** Revokes these keys. The first revocation's instant stays: a second one changes nothing. */
export function revocationOf(where: Sql, revokedAt: Instant): Sql {
  return sql`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${at(revokedAt)}) WHERE ${where}`
}

/** The lowest slot that no active key of the user has, or null. */
export async function findFreeSlot(
  queries: Queries,
  userId: string,
  activeMax: number,
): Promise<number | null> {
  const taken = await queries.all<{ slot: number }>(
    sql`SELECT slot FROM api_keys WHERE user_id = ${uuid(userId)} AND revoked_at IS NULL`,
  )
  const slots = new Set(taken.map(({ slot }) => slot))
  for (let slot = 1; slot <= activeMax; slot += 1) if (!slots.has(slot)) return slot
  return null
}
