import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../../model/instant.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { at, inBytes, inUuids, type Sql, sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from '../../accounts/records/audit.ts'

export function apiKeys(database: Database) {
  const { selectApiKeys } = database.dialect

  return {
    /**
     * Stores an active key under the hash of the full key. `at limit` if the user has `activeMax`
     * active keys; a constraint ensures that concurrent processes never exceed it (spec 5.3.4).
     * `known` if this id exists, because a form was sent twice.
     */
    async insertApiKey(
      apiKey: ApiKey,
      keyHash: Uint8Array,
      activeMax: number,
      actor: Actor,
    ): Promise<'stored' | 'at limit' | 'known'> {
      return act(database, actor, async (transaction, note) => {
        const outcome = await insert(transaction, apiKey, keyHash, activeMax)
        if (outcome === 'stored') note('key issued', apiKey.user_id, apiKey.id)
        return outcome
      })
    },

    /**
     * The user's keys, oldest first: all active ones, and all or the latest `revokedMax` revoked
     * ones.
     */
    async listApiKeys(userId: string, revokedMax?: number): Promise<ApiKey[]> {
      const user = uuid(userId)
      const limit = revokedMax === undefined ? sql`` : sql`LIMIT ${revokedMax}`
      const listed = sql`user_id = ${user} AND (revoked_at IS NULL OR id IN (
        SELECT id FROM api_keys WHERE user_id = ${user} AND revoked_at IS NOT NULL
        ORDER BY revoked_at DESC ${limit}
      ))`
      return database.all<ApiKey>(sql`${selectApiKeys(listed)} ORDER BY api_keys.created_at, id`)
    },

    /** The keys with these ids, of all owners or only of `userId`, in any order. */
    async findApiKeys(ids: readonly string[], userId?: string): Promise<ApiKey[]> {
      const owned = userId === undefined ? sql`` : sql`AND user_id = ${uuid(userId)}`
      return database.all<ApiKey>(selectApiKeys(sql`id ${inUuids(ids)} ${owned}`))
    },

    /**
     * Revokes the user's key. After the promise resolves, no process grants a claim on it (spec
     * 5.3.5). Returns the record with the time of the first revocation. Null if the user has no
     * such key.
     */
    async revokeApiKey(userId: string, id: string, actor: Actor): Promise<ApiKey | null> {
      const own = sql`user_id = ${uuid(userId)} AND id = ${uuid(id)}`
      const [revoked] = await revokeAll(database, own, actor)
      return revoked ?? null
    },

    /**
     * Revokes the leaked keys with these hashes, of all owners or only of `userId`. Returns the
     * records of all known keys, including keys that were already revoked.
     */
    async revokeApiKeysByHash(
      keyHashes: readonly Uint8Array[],
      actor: Actor,
      userId?: string,
    ): Promise<ApiKey[]> {
      const owned = userId === undefined ? sql`` : sql`AND user_id = ${uuid(userId)}`
      return revokeAll(database, sql`key_hash ${inBytes(keyHashes)} ${owned}`, actor)
    },
  }
}

/** Revokes the keys for which this holds. Returns their records, also of keys revoked earlier. */
export function revokeAll(database: Database, where: Sql, actor: Actor): Promise<ApiKey[]> {
  return act(database, actor, async (transaction, note) => {
    const known = await transaction.all<{ id: string }>(sql`SELECT id FROM api_keys WHERE ${where}`)
    const ids = known.map(({ id }) => id)
    await transaction.lock('api_keys', ids)
    await transaction.run(revocationOf(sql`id ${inUuids(ids)}`, actor.at))
    const revoked = await transaction.all<ApiKey>(
      database.dialect.selectApiKeys(sql`id ${inUuids(ids)}`),
    )
    // A key that was already revoked has its entry.
    for (const { id, user_id, revoked_at } of revoked)
      if (revoked_at === actor.at) note('key revoked', user_id, id)
    return revoked
  })
}

async function insert(
  transaction: Transaction,
  { id, user_id, name, prefix, created_at }: ApiKey,
  keyHash: Uint8Array,
  activeMax: number,
): Promise<'stored' | 'at limit' | 'known'> {
  await transaction.lock('users', [user_id])
  const known = await transaction.get(sql`SELECT 1 FROM api_keys WHERE id = ${uuid(id)}`)
  if (known !== null) return 'known'
  if ((await countActive(transaction, user_id)) >= activeMax) return 'at limit'
  await transaction.run(sql`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
    VALUES (${uuid(id)}, ${uuid(user_id)}, ${name}, ${prefix}, ${keyHash}, ${at(created_at)})`)
  return 'stored'
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
