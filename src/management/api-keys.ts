import type { ApiKey, ApiKeyStore } from '../listing/api-key.ts'
import type { Instant } from '../listing/instant.ts'
import type { Database, Queries } from './database.ts'
import { at, inBytes, inUuids, type Sql, sql, uuid } from './sql.ts'

export function apiKeys(database: Database): ApiKeyStore {
  const { selectApiKeys } = database.dialect

  return {
    async insertApiKey({ id, user_id, name, prefix, created_at }, keyHash, activeMax) {
      return database.transact(async (transaction) => {
        await transaction.lock('users', [user_id])
        const known = await transaction.get(sql`SELECT 1 FROM api_keys WHERE id = ${uuid(id)}`)
        if (known !== null) return 'known'
        if ((await countActive(transaction, user_id)) >= activeMax) return 'at limit'
        await transaction.run(sql`
          INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
          VALUES (${uuid(id)}, ${uuid(user_id)}, ${name}, ${prefix}, ${keyHash}, ${at(created_at)})`)
        return 'stored'
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
      return database.all<ApiKey>(selectApiKeys(sql`id ${inUuids(ids)} ${owned}`))
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
          sql`SELECT id FROM api_keys WHERE key_hash ${inBytes(keyHashes)} ${owned}`,
        )
        const ids = found.map(({ id }) => id)
        await transaction.lock('api_keys', ids)
        await transaction.run(revocationOf(sql`id ${inUuids(ids)}`, revokedAt))
        return transaction.all<ApiKey>(selectApiKeys(sql`id ${inUuids(ids)}`))
      })
    },
  }
}

/** Revokes these keys. The first revocation's instant stays: a second one changes nothing. */
export function revocationOf(where: Sql, revokedAt: Instant): Sql {
  return sql`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${at(revokedAt)}) WHERE ${where}`
}

/** The number of the user's active keys. */
export async function countActive(queries: Queries, userId: string): Promise<number> {
  const counted = await queries.get<{ active: number }>(sql`
    SELECT count(*) AS active FROM api_keys WHERE user_id = ${uuid(userId)} AND revoked_at IS NULL`)
  return counted!.active
}
