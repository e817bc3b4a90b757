import type { ManagementStore } from '../../listing/store.ts'
import { type Instant, presentInstant } from '../../listing/instant.ts'
import type { Database } from '../../management/database.ts'
import { bytes, type Sql, sql, uuid } from '../../management/sql.ts'
import { appendToJournal, journalOf, type Revocation } from './journal.ts'

/**
 * The same store, but it writes each revocation to the journal beside the file first. It withdraws
 * one that the database then refuses. The next start of the service completes one that a crash cuts
 * off.
 */
export function journaled(
  management: ManagementStore,
  database: Database,
  path: string,
): ManagementStore {
  const journal = journalOf(path)

  async function note<T>(
    revocations: readonly Revocation[],
    at: Instant,
    revoke: () => Promise<T>,
  ): Promise<T> {
    if (revocations.length === 0) return revoke()
    await appendToJournal(journal, revocations, at)
    try {
      return await revoke()
    } catch (error) {
      await appendToJournal(journal, revocations, at, { withdrawn: true })
      throw error
    }
  }

  async function activeKeys(where: Sql): Promise<Revocation[]> {
    const found = await database.all<{ key_hash: Uint8Array }>(
      sql`SELECT key_hash FROM api_keys WHERE ${where} AND revoked_at IS NULL`,
    )
    return found.map(({ key_hash }) => ({ keyHash: key_hash }))
  }

  return {
    ...management,

    async revokeApiKey(userId, id, revokedAt) {
      const found = await activeKeys(sql`user_id = ${uuid(userId)} AND id = ${uuid(id)}`)
      return note(found, revokedAt, () => management.revokeApiKey(userId, id, revokedAt))
    },

    async revokeApiKeysByHash(keyHashes, revokedAt, userId) {
      const owned = userId === undefined ? sql`` : sql`AND user_id = ${uuid(userId)}`
      const found = await activeKeys(sql`key_hash IN (${bytes(keyHashes)}) ${owned}`)
      return note(found, revokedAt, () =>
        management.revokeApiKeysByHash(keyHashes, revokedAt, userId),
      )
    },

    removeUser: (userId) =>
      note([{ userId }], presentInstant(), () => management.removeUser(userId)),
  }
}
