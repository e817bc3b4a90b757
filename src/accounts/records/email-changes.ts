import type { EmailChange } from '../passwords.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'
import { findPasswordHash } from './passwords.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from './audit.ts'

export function emailChanges(database: Database) {
  /** Runs `body` under the user's lock. */
  async function change<Outcome>(
    userId: string,
    email: string,
    actor: Actor,
    body: (transaction: Transaction) => Promise<Outcome>,
  ): Promise<Outcome | 'taken'> {
    try {
      return await act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        const outcome = await body(transaction)
        if (outcome === 'changed') note('e-mail changed', userId, email)
        return outcome
      })
    } catch (error) {
      if (database.dialect.isTaken(error)) return 'taken'
      throw error
    }
  }

  return {
    /** Changes the email address, if `checked` is still the hash of the user's password. */
    changeEmail: (
      userId: string,
      checked: string,
      email: string,
      actor: Actor,
    ): Promise<EmailChange> =>
      change(userId, email, actor, async (transaction) => {
        // A change of the password that had the lock has ended before this reads the hash.
        if ((await findPasswordHash(transaction, userId)) !== checked) return 'outdated'
        return updateEmail(transaction, userId, email)
      }),

    /** Changes the email address on behalf of an operator. Sessions and the sign-in link stay. */
    setEmail: (
      userId: string,
      email: string,
      actor: Actor,
    ): Promise<'changed' | 'taken' | 'not found'> =>
      change(userId, email, actor, async (transaction) => {
        const user = await transaction.get(sql`SELECT 1 FROM users WHERE id = ${uuid(userId)}`)
        return user === null ? 'not found' : updateEmail(transaction, userId, email)
      }),
  }
}

/**
 * An address that another user still has is refused at once. The unique index would wait for that
 * user's own change, and two users who swap addresses would deadlock.
 */
async function updateEmail(
  transaction: Transaction,
  userId: string,
  email: string,
): Promise<'changed' | 'taken'> {
  const changed = await transaction.run(sql`
    UPDATE users SET email = ${email}, email_issuer = NULL
    WHERE id = ${uuid(userId)} AND NOT EXISTS (
      SELECT 1 FROM users AS other WHERE other.email = ${email} AND other.id <> users.id
    )`)
  return changed === 1 ? 'changed' : 'taken'
}
