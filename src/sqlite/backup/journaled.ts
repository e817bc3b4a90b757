import type { ManagementStore } from '../../listing/store.ts'
import { type Instant, presentInstant } from '../../listing/instant.ts'
import type { Database } from '../../management/database.ts'
import { bytes, type Sql, sql, uuid } from '../../management/sql.ts'
import { appendToJournal, journalOf } from './journal.ts'

/**
 * The same store, but it writes each revocation to the journal beside the file first. One that then
 * fails in the database is in the journal alone, and the next start of the service completes it.
 */
export function journaled(
  management: ManagementStore,
  database: Database,
  path: string,
): ManagementStore {
  const journal = journalOf(path)

  async function noteKeys(where: Sql, at: Instant): Promise<void> {
    const found = await database.all<{ key_hash: Uint8Array }>(
      sql`SELECT key_hash FROM api_keys WHERE ${where} AND revoked_at IS NULL`,
    )
    const revocations = found.map(({ key_hash }) => ({ keyHash: key_hash }))
    if (revocations.length > 0) await appendToJournal(journal, revocations, at)
  }

  return {
    ...management,

    async revokeApiKey(userId, id, revokedAt) {
      await noteKeys(sql`user_id = ${uuid(userId)} AND id = ${uuid(id)}`, revokedAt)
      return management.revokeApiKey(userId, id, revokedAt)
    },

    async revokeApiKeysByHash(keyHashes, revokedAt, userId) {
      const owned = userId === undefined ? sql`` : sql`AND user_id = ${uuid(userId)}`
      await noteKeys(sql`key_hash IN (${bytes(keyHashes)}) ${owned}`, revokedAt)
      return management.revokeApiKeysByHash(keyHashes, revokedAt, userId)
    },

    async removeUser(email) {
      const user = await management.findUser(email)
      if (user !== null) await appendToJournal(journal, [{ userId: user.id }], presentInstant())
      return management.removeUser(email)
    },
  }
}
