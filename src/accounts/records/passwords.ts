import type { StoredPassword } from '../passwords.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { raw, sql, uuid } from '../../database/sql.ts'
import { act } from './audit.ts'
import { insertionOf, insertUser } from './users.ts'
import { HAS_ACCESS, nameIn } from './user-columns.ts'
import type { Actor } from '../../model/audit.ts'
import type { AddressedUser } from '../user.ts'

const HAS_ACCOUNTS = raw('(EXISTS (SELECT 1 FROM passwords) OR EXISTS (SELECT 1 FROM identities))')

export function passwords(database: Database) {
  return {
    /** True if any user can sign in. */
    async hasAccounts(): Promise<boolean> {
      return (await database.get(sql`SELECT 1 WHERE ${HAS_ACCOUNTS}`)) !== null
    },

    /** Adds a user who can sign in. False if the email address or the external id is taken. */
    async insertUserWithPassword(
      user: AddressedUser,
      passwordHash: string,
      action: 'user added' | 'sign-up',
      actor: Actor,
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        if (!(await insertUser(transaction, user))) return false
        await savePassword(transaction, user.id, passwordHash)
        note(action, user.id, user.email)
        return true
      })
    },

    /**
     * Uses the setup link's token for the first user who can sign in. If a user without a password
     * has this email address, that user gets the password. Otherwise adds the user. Returns the
     * user's id, or null if the link is used up or the user has no access.
     */
    async insertFirstUser(
      user: AddressedUser,
      passwordHash: string,
      setupToken: string,
      actor: Actor,
    ): Promise<string | null> {
      return act(database, actor, async (transaction, note) => {
        const id = await insertFirst(transaction, user, passwordHash, setupToken)
        if (id !== null) note('sign-up', id, user.email)
        return id
      })
    },

    /** Sets the password, ends all of the user's sessions and invalidates the setup link. */
    async setPassword(userId: string, passwordHash: string, actor: Actor): Promise<void> {
      await act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        await savePassword(transaction, userId, passwordHash)
        note('password changed', userId, await nameIn(transaction, userId))
      })
    },

    /**
     * The same as `setPassword`, if `checked` is still the hash of the user's password. False if
     * another change or sign-in has replaced it: of two changes that checked one password, one is
     * made.
     */
    async changePassword(
      userId: string,
      checked: string,
      passwordHash: string,
      actor: Actor,
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        if ((await findPasswordHash(transaction, userId)) !== checked) return false
        await savePassword(transaction, userId, passwordHash)
        note('password changed', userId, await nameIn(transaction, userId))
        return true
      })
    },

    /** The password of the user with this email address. Null without one, or without access. */
    async findPassword(email: string): Promise<StoredPassword | null> {
      return database.get<{ userId: string; hash: string }>(sql`
        SELECT id AS "userId", hash FROM users JOIN passwords ON user_id = id
        WHERE email = ${email} AND ${HAS_ACCESS}`)
    },

    /** The hash of the user's password. Null without one, or without access. */
    findPasswordHash: (userId: string): Promise<string | null> =>
      findPasswordHash(database, userId),
  }
}

async function insertFirst(
  transaction: Transaction,
  user: AddressedUser,
  passwordHash: string,
  setupToken: string,
): Promise<string | null> {
  // The row of the setup link's token, as long as no user can sign in.
  const token = sql`FROM secrets WHERE name = 'setup' AND value = ${setupToken}
    AND NOT ${HAS_ACCOUNTS}`
  if ((await transaction.get(sql`SELECT 1 ${token}`)) === null) return null
  // The user's row before the token's, as everything that sets a password locks them. The update
  // changes nothing: it locks and returns the row of a user who exists.
  const row = await transaction.get<{ id: string }>(sql`
    ${insertionOf(user)} ON CONFLICT (email) DO UPDATE SET email = excluded.email
    WHERE ${HAS_ACCESS} RETURNING id`)
  if (row === null) return null
  const { id } = row
  // Exactly one of several concurrent callers spends the token.
  if ((await transaction.run(sql`DELETE ${token}`)) === 0) {
    if (id === user.id) await transaction.run(sql`DELETE FROM users WHERE id = ${uuid(id)}`)
    return null
  }
  await savePassword(transaction, id, passwordHash)
  return id
}

export async function findPasswordHash(queries: Queries, userId: string): Promise<string | null> {
  const row = await queries.get<{ hash: string }>(
    sql`SELECT hash FROM passwords JOIN users ON id = user_id
      WHERE user_id = ${uuid(userId)} AND ${HAS_ACCESS}`,
  )
  return row?.hash ?? null
}

/**
 * Also ends the setup link, the user's sign-in link and all of the user's sessions. The caller
 * holds the user's lock, so that no session begins meanwhile with the old password.
 */
export async function savePassword(
  transaction: Transaction,
  userId: string,
  passwordHash: string,
): Promise<void> {
  await transaction.run(sql`
    INSERT INTO passwords (user_id, hash) VALUES (${uuid(userId)}, ${passwordHash})
    ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash`)
  await transaction.run(sql`DELETE FROM secrets WHERE name = 'setup'`)
  await transaction.run(sql`DELETE FROM sign_in_links WHERE user_id = ${uuid(userId)}`)
  await transaction.run(sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)}`)
}
