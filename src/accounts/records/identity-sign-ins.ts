import type { Session } from '../../model/session.ts'
import type { ProvidedUser, SignInRefusal } from '../identity.ts'
import type { DraftSession, NewSession } from '../sessions.ts'
import { createUser, nameOf } from '../user.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'
import { act, type Note } from './audit.ts'
import {
  findIdentities,
  findOwner,
  hasPassword,
  insertIdentity,
  lockIdentity,
} from './identities.ts'
import { insertSession } from './sessions.ts'
import { insertUser } from './users.ts'
import { nameIn } from './user-columns.ts'

/** Who may sign in without an identity that the store has. */
export interface NewcomerRules {
  /** Whether an unknown person gets an account. */
  signUp: 'open' | 'closed'
  /** Addresses that no provider can bring: those of OPERATORS. */
  reserved: readonly string[]
}

/** With the user whose session begins, or whose account is the reason of the refusal. */
export type SignInOutcome =
  | { userId: string; refusal: null }
  | { userId: string | null; refusal: SignInRefusal }

export function identitySignIns(database: Database) {
  /** A session without the right of an operator takes it from all of the user's sessions. */
  async function begin(
    transaction: Transaction,
    { isOperator }: ProvidedUser,
    session: NewSession,
  ): Promise<void> {
    if (!isOperator)
      await transaction.run(
        sql`UPDATE sessions SET operator_until = NULL WHERE user_id = ${uuid(session.userId)}`,
      )
    await insertSession(transaction, database.dialect, session)
  }

  return {
    /**
     * Begins a session of the user with this identity. A person without one gets the account that
     * has the address, if an operator or a site made that account and it has no way to sign in, or
     * a new account if the rules allow it.
     */
    signIn: (
      provided: ProvidedUser,
      draft: DraftSession,
      rules: NewcomerRules,
    ): Promise<SignInOutcome> =>
      act(database, { address: draft.address, at: draft.startedAt }, async (transaction, note) => {
        await lockIdentity(transaction, provided)
        const owner = await findOwner(transaction, provided)
        const found =
          owner === null
            ? await admit(transaction, note, provided, draft, rules)
            : { userId: owner, refusal: null }
        if (found.refusal !== null) return found
        const { userId } = found
        await transaction.lock('users', [userId])
        if ((await findOwner(transaction, provided)) !== userId) return refuse('no account')
        const ended = await findEnd(transaction, userId)
        if (ended !== null) return refuse(ended, userId)
        await begin(transaction, provided, { ...draft, userId })
        note('sign-in', userId, await nameIn(transaction, userId))
        return found
      }),

    /**
     * Replaces the session by a new one, if the identity is one of the user's own. False if it is
     * not, or if the session has ended.
     */
    confirm: (
      { id, userId }: Session,
      provided: ProvidedUser,
      draft: DraftSession,
      action: 'confirmed' | 'confirmed without auth_time',
    ): Promise<boolean> =>
      act(database, { address: draft.address, at: draft.startedAt }, async (transaction, note) => {
        await transaction.lock('users', [userId])
        if ((await findOwner(transaction, provided)) !== userId) return false
        const ended = await transaction.run(
          sql`DELETE FROM sessions WHERE id = ${uuid(id)} AND user_id = ${uuid(userId)}`,
        )
        if (ended === 0) return false
        await begin(transaction, provided, { ...draft, userId })
        note(action, userId, provided.issuer)
        return true
      }),
  }
}

/** The account of a person whose identity is new, with that identity. */
async function admit(
  transaction: Transaction,
  note: Note,
  provided: ProvidedUser,
  draft: DraftSession,
  { signUp, reserved }: NewcomerRules,
): Promise<SignInOutcome> {
  const { issuer } = provided
  const email = typeof provided.email === 'string' ? null : provided.email.verified
  if (email !== null && reserved.includes(email)) return refuse('address of an operator')
  const addressed = email === null ? null : await findAddressed(transaction, email)
  if (addressed !== null && email !== null) {
    await transaction.lock('users', [addressed.id])
    // Again, under the lock that every new way to sign in takes.
    const user = await findAddressed(transaction, email)
    if (user?.id !== addressed.id) return refuse('no account')
    const ended = await findEnd(transaction, user.id)
    if (ended !== null) return refuse(ended, user.id)
    const own = await findIdentities(transaction, user.id)
    if (own.length > 0 || (await hasPassword(transaction, user.id)))
      return refuse('account has another sign-in', user.id)
    await insertIdentity(transaction, user.id, provided)
    note('sign-in connected', user.id, issuer)
    return { userId: user.id, refusal: null }
  }
  if (signUp === 'closed')
    return refuse(typeof provided.email === 'string' ? provided.email : 'no account')
  const user = { ...createUser(email), created_at: draft.startedAt }
  // A user without an address needs the identity first.
  if (email === null) await insertIdentity(transaction, user.id, provided)
  if (!(await insertUser(transaction, user))) return refuse('account has another sign-in')
  if (email !== null) await insertIdentity(transaction, user.id, provided)
  await transaction.run(
    sql`UPDATE users SET email_issuer = ${issuer} WHERE id = ${uuid(user.id)} AND email IS NOT NULL`,
  )
  note('sign-up', user.id, nameOf(user))
  return { userId: user.id, refusal: null }
}

const refuse = (refusal: SignInRefusal, userId: string | null = null) => ({ userId, refusal })

function findAddressed(queries: Queries, email: string): Promise<{ id: string } | null> {
  return queries.get<{ id: string }>(sql`SELECT id FROM users WHERE email = ${email}`)
}

/** Why the user has no access. Null if the user has. */
async function findEnd(queries: Queries, userId: string): Promise<SignInRefusal | null> {
  const user = await queries.get<{ ended: SignInRefusal | null }>(sql`
    SELECT CASE WHEN disabled_at IS NOT NULL THEN 'account disabled'
      WHEN banned_at IS NOT NULL THEN 'account banned' END AS ended
    FROM users WHERE id = ${uuid(userId)}`)
  return user === null ? 'no account' : user.ended
}
