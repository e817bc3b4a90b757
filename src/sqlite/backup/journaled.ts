import type { ManagementStore } from '../../listing/store.ts'
import { isRevoked } from '../../listing/state/revoked-keys.ts'
import { type Instant, presentInstant } from '../../listing/instant.ts'
import type { Database } from '../../management/database.ts'
import { bytes, type Sql, sql, uuid } from '../../management/sql.ts'
import { findRevived } from './revived.ts'
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
  const { note, activeKeys } = createNotes(database, path)
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

    async planState(state, options) {
      const planned = await management.planState(state, options)
      const revived = await findRevived(state, database, path)
      if (revived.length === 0) return planned
      const complaints = 'complaints' in planned ? planned.complaints : []
      return { complaints: [...complaints, ...revived] }
    },

    async applyUser(user, confirmed) {
      const active = await activeKeys(
        sql`user_id = (SELECT id FROM users WHERE email = ${user.email})`,
      )
      const found = active.filter(({ keyHash }) =>
        isRevoked(Buffer.from(keyHash).toString('hex'), user.keys, confirmed.prune),
      )
      return note(
        found,
        confirmed.now,
        () => management.applyUser(user, confirmed),
        (applied) => applied === 'written',
      )
    },

    removeUser: (userId) =>
      note([{ userId }], presentInstant(), () => management.removeUser(userId)),
  }
}

/** Writes revocations to the journal before they are made. */
function createNotes(database: Database, path: string) {
  const journal = journalOf(path)

  async function note<T>(
    revocations: readonly Revocation[],
    at: Instant,
    revoke: () => Promise<T>,
    isDone: (result: T) => boolean = () => true,
  ): Promise<T> {
    if (revocations.length === 0) return revoke()
    await appendToJournal(journal, revocations, at)
    let isNoted = false
    try {
      const result = await revoke()
      isNoted = isDone(result)
      return result
    } finally {
      if (!isNoted) await appendToJournal(journal, revocations, at, { withdrawn: true })
    }
  }

  async function activeKeys(where: Sql): Promise<{ keyHash: Uint8Array }[]> {
    const found = await database.all<{ key_hash: Uint8Array }>(
      sql`SELECT key_hash FROM api_keys WHERE ${where} AND revoked_at IS NULL`,
    )
    return found.map(({ key_hash }) => ({ keyHash: key_hash }))
  }

  return { note, activeKeys }
}
