import { formatInstant, type Instant } from '../../listing/instant.ts'
import type { PasswordStore } from '../../listing/accounts/passwords.ts'
import type { Database, Queries, Transaction } from '../database.ts'
import { sql, uuid } from '../sql.ts'
import { insertionOf, insertUser } from './users.ts'

export function passwords(database: Database): Omit<PasswordStore, 'changeEmail'> {
  return {
    async hasAccounts() {
      return (await database.get(sql`SELECT 1 FROM accounts LIMIT 1`)) !== null
    },

    async insertUserWithPassword(user, passwordHash) {
      return database.transact(async (transaction) => {
        if (!(await insertUser(transaction, user))) return false
        await savePassword(transaction, user.id, passwordHash, user.created_at)
        return true
      })
    },

    async insertFirstUser(user, passwordHash, setupToken) {
      // The row of the setup link's token, as long as no user can sign in.
      const token = sql`FROM secrets WHERE name = 'setup' AND value = ${setupToken}
        AND NOT EXISTS (SELECT 1 FROM accounts)`
      return database.transact(async (transaction) => {
        if ((await transaction.get(sql`SELECT 1 ${token}`)) === null) return null
        // The user's row before the token's, as everything that sets a password locks them. The
        // update changes nothing: it locks and returns the row of a user who exists.
        const row = await transaction.get<{ id: string }>(sql`
          ${insertionOf(user)} ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id`)
        const { id } = row!
        // Exactly one of several concurrent callers spends the token.
        if ((await transaction.run(sql`DELETE ${token}`)) === 0) {
          if (id === user.id) await transaction.run(sql`DELETE FROM users WHERE id = ${uuid(id)}`)
          return null
        }
        await savePassword(transaction, id, passwordHash, user.created_at)
        return id
      })
    },

    async setPassword(userId, passwordHash, now) {
      await database.transact(async (transaction) => {
        await transaction.lock('users', [userId])
        await savePassword(transaction, userId, passwordHash, now)
      })
    },

    async changePassword(userId, checked, passwordHash, now) {
      return database.transact(async (transaction) => {
        await transaction.lock('users', [userId])
        if ((await findPasswordHash(transaction, userId)) !== checked) return false
        await savePassword(transaction, userId, passwordHash, now)
        return true
      })
    },

    async findPassword(email) {
      const row = await database.get<{ user_id: string; password: string }>(sql`
        SELECT users.id AS user_id, password FROM users JOIN accounts ON accounts.user_id = users.id
        WHERE email = ${email} AND provider_id = 'credential' AND password IS NOT NULL`)
      return row === null ? null : { userId: row.user_id, hash: row.password }
    },

    findPasswordHash: (userId) => findPasswordHash(database, userId),
  }
}

export async function findPasswordHash(queries: Queries, userId: string): Promise<string | null> {
  const row = await queries.get<{ password: string | null }>(sql`
    SELECT password FROM accounts WHERE user_id = ${uuid(userId)} AND provider_id = 'credential'`)
  return row?.password ?? null
}

/**
 * Also ends the setup link, the user's sign-in link and all of the user's sessions. The caller
 * holds the user's lock, so that no session begins meanwhile with the old password.
 */
export async function savePassword(
  transaction: Transaction,
  userId: string,
  passwordHash: string,
  now: Instant,
): Promise<void> {
  const saved = formatInstant(now)
  await transaction.run(sql`
    INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
    VALUES (${crypto.randomUUID()}, ${uuid(userId)}, 'credential', ${userId}, ${passwordHash}, ${saved}, ${saved})
    ON CONFLICT (provider_id, account_id)
    DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at`)
  await transaction.run(sql`DELETE FROM secrets WHERE name = 'setup'`)
  await transaction.run(sql`DELETE FROM sign_in_links WHERE user_id = ${uuid(userId)}`)
  await transaction.run(sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)}`)
}
