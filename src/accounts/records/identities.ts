import type { Actor } from '../../model/audit.ts'
import type { Session } from '../../model/session.ts'
import { type Identity, REFUSAL_NOTED_US, type SessionRefusal } from '../identity.ts'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { at, sql, uuid } from '../../database/sql.ts'
import { act } from './audit.ts'

export type Connection = 'connected' | Exclude<SessionRefusal, 'not asked again'>

/** The ways to sign in that are turned on. */
export interface WaysIn {
  issuer: string
  passwords: boolean
}

export function identities(database: Database) {
  return {
    listIdentities: (userId: string): Promise<Identity[]> => findIdentities(database, userId),

    /** Adds an identity to the user of a session, who has no other one of its issuer. */
    connect: ({ id, userId }: Session, identity: Identity, actor: Actor): Promise<Connection> =>
      act(database, actor, async (transaction, note) => {
        await lockIdentity(transaction, identity)
        await transaction.lock('users', [userId])
        const session = await transaction.get(
          sql`SELECT 1 FROM sessions WHERE id = ${uuid(id)} AND user_id = ${uuid(userId)}`,
        )
        if (session === null) return 'session ended'
        const owner = await findOwner(transaction, identity)
        if (owner !== null) return owner === userId ? 'connected' : 'another account'
        const own = await findIdentities(transaction, userId)
        if (own.some(({ issuer }) => issuer === identity.issuer)) return 'too many sign-ins'
        await insertIdentity(transaction, userId, identity)
        note('sign-in connected', userId, identity.issuer)
        return 'connected'
      }),

    /**
     * Removes an identity of the user of a session, and ends all other sessions. Keeps the last way
     * to sign in.
     */
    remove: (
      { id, userId }: Session,
      { issuer, subject }: Identity,
      ways: WaysIn,
      actor: Actor,
    ): Promise<'removed' | 'last' | 'not found'> =>
      act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        const own = await findIdentities(transaction, userId)
        const others = own.filter((one) => one.issuer !== issuer || one.subject !== subject)
        if (others.length === own.length) return 'not found'
        const hasOther = others.some((one) => one.issuer === ways.issuer)
        if (!hasOther && !(ways.passwords && (await hasPassword(transaction, userId))))
          return 'last'
        await transaction.run(sql`
          DELETE FROM identities
          WHERE issuer = ${issuer} AND subject = ${subject} AND user_id = ${uuid(userId)}`)
        await transaction.run(
          sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)} AND id <> ${uuid(id)}`,
        )
        note('sign-in removed', userId, issuer)
        return 'removed'
      }),

    /**
     * Notes why a person whom the provider knows was refused, and the user whose account it is
     * about. One entry per identity and reason stands for REFUSAL_NOTED_US.
     */
    noteRefusal: (
      identity: Identity,
      reason: string,
      userId: string | null,
      actor: Actor,
    ): Promise<void> =>
      act(database, actor, async (transaction, note) => {
        await lockIdentity(transaction, identity)
        const subject = `${reason}: ${identity.issuer} ${identity.subject}`
        const noted = await transaction.get(sql`
          SELECT 1 FROM audit_log WHERE action = 'identity refused' AND subject = ${subject}
            AND occurred_at > ${at(actor.at - REFUSAL_NOTED_US)} LIMIT 1`)
        if (noted === null) note('identity refused', userId, subject)
      }),
  }
}

/** Makes others with the same new identity wait: no row has it yet. */
export function lockIdentity(
  transaction: Transaction,
  { issuer, subject }: Identity,
): Promise<void> {
  return transaction.lockNames([`${issuer}\n${subject}`])
}

export async function insertIdentity(
  transaction: Transaction,
  userId: string,
  { issuer, subject }: Identity,
): Promise<void> {
  await transaction.run(sql`
    INSERT INTO identities (issuer, subject, user_id) VALUES (${issuer}, ${subject}, ${uuid(userId)})`)
  await transaction.run(sql`DELETE FROM secrets WHERE name = 'setup'`)
}

export async function findOwner(
  queries: Queries,
  { issuer, subject }: Identity,
): Promise<string | null> {
  const row = await queries.get<{ user_id: string }>(
    sql`SELECT user_id FROM identities WHERE issuer = ${issuer} AND subject = ${subject}`,
  )
  return row?.user_id ?? null
}

/** Whether the user can sign in by password, which needs an address, too. */
export async function hasPassword(queries: Queries, userId: string): Promise<boolean> {
  const password = await queries.get(sql`
    SELECT 1 FROM passwords JOIN users ON id = user_id
    WHERE user_id = ${uuid(userId)} AND email IS NOT NULL`)
  return password !== null
}

/** The identities of a user, by issuer and subject. */
export function findIdentities(queries: Queries, userId: string): Promise<Identity[]> {
  return queries.all<Identity>(sql`
    SELECT issuer, subject FROM identities WHERE user_id = ${uuid(userId)}
    ORDER BY issuer, subject`)
}
