import type { Instant } from '../../model/instant.ts'
import type { LinkedUser, SignInLink } from '../sign-in-links.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { at, sql, uuid } from '../../database/sql.ts'
import type { DraftSession } from '../sessions.ts'
import { savePassword } from './passwords.ts'
import { insertSession } from './sessions.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from './audit.ts'
import { HAS_ACCESS } from './user-columns.ts'

export function signInLinks(database: Database) {
  return {
    /** Replaces the user's link. False if the user has no access or no address, or is gone. */
    async keepSignInLink(
      { userId, tokenHash, expiresAt }: SignInLink,
      actor: Actor,
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        const user = await transaction.get<{ email: string }>(sql`
          SELECT email FROM users
          WHERE id = ${uuid(userId)} AND email IS NOT NULL AND ${HAS_ACCESS}`)
        if (user === null) return false
        await transaction.run(sql`
          INSERT INTO sign_in_links (user_id, token_hash, expires_at)
          VALUES (${uuid(userId)}, ${tokenHash}, ${at(expiresAt)})
          ON CONFLICT (user_id)
          DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at`)
        note('sign-in link issued', userId, user.email)
        return true
      })
    },

    /** Reads the link without spending it. Null if it is unknown, used or expired. */
    findSignInLink: (tokenHash: string, now: Instant): Promise<LinkedUser | null> =>
      find(database, tokenHash, now),

    /**
     * Spends the link: sets the password and ends all of the user's sessions. Exactly one of
     * several concurrent callers gets the user.
     */
    async useSignInLink(
      tokenHash: string,
      passwordHash: string,
      actor: Actor,
    ): Promise<LinkedUser | null> {
      return act(database, actor, async (transaction, note) => {
        const user = await take(transaction, tokenHash, actor.at)
        if (user === null) return null
        await savePassword(transaction, user.id, passwordHash)
        note('sign-in link used', user.id, user.email)
        return user
      })
    },

    /**
     * Spends the link: begins a session and sets no password. Exactly one of several concurrent
     * callers gets the user's id.
     */
    async beginLinkedSession(tokenHash: string, draft: DraftSession): Promise<string | null> {
      const actor = { address: draft.address, at: draft.startedAt }
      return act(database, actor, async (transaction, note) => {
        const user = await take(transaction, tokenHash, draft.startedAt)
        if (user === null) return null
        const { id: userId, email } = user
        await transaction.run(sql`DELETE FROM sign_in_links WHERE user_id = ${uuid(userId)}`)
        await insertSession(transaction, database.dialect, { ...draft, userId })
        note('signed in by link', userId, email)
        return userId
      })
    },
  }
}

/** The user of the link, whose lock the transaction has from now on. */
async function take(
  transaction: Transaction,
  tokenHash: string,
  now: Instant,
): Promise<LinkedUser | null> {
  const found = await find(transaction, tokenHash, now)
  if (found === null) return null
  await transaction.lock('users', [found.id])
  // Again, under the lock that every new password takes.
  return find(transaction, tokenHash, now)
}

function find(queries: Queries, tokenHash: string, now: Instant): Promise<LinkedUser | null> {
  return queries.get<LinkedUser>(sql`
    SELECT id, email FROM sign_in_links JOIN users ON users.id = user_id
    WHERE token_hash = ${tokenHash} AND expires_at > ${at(now)}
      AND email IS NOT NULL AND ${HAS_ACCESS}`)
}
