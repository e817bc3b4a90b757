import type { Instant } from '../../model/instant.ts'
import {
  ACTIVITY_STEP_US,
  EXPIRED_DROPPED,
  SESSIONS_MAX,
  type NewSession,
  type StoredSession,
} from '../sessions.ts'
import type { Session } from '../../model/session.ts'
import { listedEmailOf, type User } from '../user.ts'
import type { Database, Dialect, Queries, Transaction } from '../../database/database.ts'
import { findPasswordHash } from './passwords.ts'
import { act } from './audit.ts'
import { HAS_ACCESS, nameIn, USER_NAME } from './user-columns.ts'
import type { Actor } from '../../model/audit.ts'
import { at, inStrings, sql, uuid } from '../../database/sql.ts'

interface SessionRow {
  id: string
  token_hash: string
  user_id: string
  email: string | null
  external_id: string | null
  email_issuer: string | null
  name: string
  started_at: Instant
  last_active_at: Instant
  operator_until: Instant | null
}

interface ListedRow {
  id: string
  user_agent: string
  address: string
  started_at: Instant
  last_active_at: Instant
}

export function sessions(database: Database) {
  const { instant } = database.dialect

  return {
    /**
     * Begins a session if `checked` is still the user's hash, and stores `renewed` as the new hash
     * if given. False if the hash has changed or the user has no access. Takes the lock of
     * `setPassword`, so that no session of an old password survives a change. Then does what
     * `insertSession` does.
     */
    async beginSession(
      session: NewSession,
      checked: string,
      renewed: string | null,
    ): Promise<boolean> {
      const { userId, address, startedAt } = session
      const user = uuid(userId)
      return act(database, { address, at: startedAt }, async (transaction, note) => {
        await transaction.lock('users', [userId])
        if ((await findPasswordHash(transaction, userId)) !== checked) return false
        if (renewed !== null)
          await transaction.run(sql`
            UPDATE passwords SET hash = ${renewed} WHERE user_id = ${user}`)
        await insertSession(transaction, database.dialect, session)
        note('sign-in', userId, await nameIn(transaction, userId))
        return true
      })
    },

    /**
     * The first session with one of these token hashes that has not ended, or null. A process of
     * 0.1.0 beside this one begins sessions of users whom the site has banned.
     */
    async findSession(tokenHashes: readonly string[], now: Instant): Promise<Session | null> {
      const rows = await database.all<SessionRow>(sql`
        SELECT sessions.id, token_hash, user_id, email, external_id, email_issuer, ${USER_NAME} AS name,
          ${instant('started_at')}, ${instant('last_active_at')}, ${instant('operator_until')}
        FROM sessions JOIN users ON users.id = user_id
        WHERE token_hash ${inStrings(tokenHashes)} AND expires_at > ${at(now)} AND ${HAS_ACCESS}`)
      const byToken = new Map(rows.map((row) => [row.token_hash, row]))
      const first = tokenHashes.find((tokenHash) => byToken.has(tokenHash))
      if (first === undefined) return null
      return sessionOf(byToken.get(first)!)
    },

    /**
     * Ends all sessions of the user; `sessions ended` is for an operator. False if there are none.
     */
    async endSessions(
      userId: string,
      actor: Actor,
      action: 'sign-out everywhere' | 'sessions ended' = 'sign-out everywhere',
    ): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        const ended = await transaction.run(
          sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)}`,
        )
        if (ended > 0) note(action, userId, await nameIn(transaction, userId))
        return ended > 0
      })
    },

    /** Ends the sessions with these token hashes. */
    async endSessionsOf(tokenHashes: readonly string[], actor: Actor): Promise<void> {
      const ended = sql`token_hash ${inStrings(tokenHashes)}`
      await act(database, actor, async (transaction, note) => {
        const users = await transaction.all<{ id: string; name: string }>(sql`
          SELECT DISTINCT users.id, ${USER_NAME} AS name FROM sessions
          JOIN users ON users.id = user_id WHERE ${ended} AND expires_at > ${at(actor.at)}`)
        await transaction.run(sql`DELETE FROM sessions WHERE ${ended}`)
        for (const { id, name } of users) note('sign-out', id, name)
      })
    },
  }
}

function sessionOf(row: SessionRow): Session {
  const { id, user_id, email, external_id, name } = row
  return {
    id,
    userId: user_id,
    email,
    externalId: external_id,
    listedEmail: listedEmailOf(row),
    name,
    startedAt: row.started_at,
    lastActiveAt: row.last_active_at,
    operatorUntil: row.operator_until,
  }
}

/**
 * Begins a session. Keeps the newest SESSIONS_MAX sessions of the user and removes up to
 * EXPIRED_DROPPED expired ones. The caller holds the user's lock and has checked that the user has
 * access.
 */
export async function insertSession(
  transaction: Transaction,
  { skipLocked }: Dialect,
  session: NewSession,
): Promise<void> {
  const {
    userId,
    tokenHash,
    userAgent,
    address,
    startedAt,
    expiresAt,
    operatorUntil = null,
  } = session
  const user = uuid(userId)
  await transaction.run(sql`
    DELETE FROM sessions WHERE user_id = ${user} AND id NOT IN (
      SELECT id FROM sessions WHERE user_id = ${user}
      ORDER BY started_at DESC, id LIMIT ${SESSIONS_MAX - 1}
    )`)
  // The only lock on rows of other users. It waits for none of them, so it is in no deadlock.
  await transaction.run(sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM sessions WHERE expires_at <= ${at(startedAt)}
      ORDER BY expires_at LIMIT ${EXPIRED_DROPPED} ${skipLocked}
    ) DELETE FROM sessions WHERE id IN (SELECT id FROM old)`)
  await transaction.run(sql`
    INSERT INTO sessions
        (id, user_id, token_hash, user_agent, address, started_at, last_active_at, expires_at,
        operator_until)
    VALUES (${crypto.randomUUID()}, ${user}, ${tokenHash}, ${userAgent}, ${address},
      ${at(startedAt)}, ${at(startedAt)}, ${at(expiresAt)},
        ${operatorUntil === null ? null : at(operatorUntil)})`)
}

/**
 * Whether a link or key for the account would let its holder act in an operator's name. OPERATORS
 * lists its address, even of a site's user, or the identity provider gave one of its sessions an
 * operator's right.
 */
export async function isOperatorAccount(
  queries: Queries,
  { id, email }: Pick<User, 'id' | 'email'>,
  operators: readonly string[],
  now: Instant,
): Promise<boolean> {
  if (email !== null && operators.includes(email)) return true
  const right = sql`SELECT 1 FROM sessions WHERE user_id = ${uuid(id)} AND operator_until > ${at(now)}`
  return (await queries.get(right)) !== null
}

export function sessionList(database: Database) {
  const { instant } = database.dialect

  return {
    /** The user's sessions that have not ended, newest first. */
    async listSessions(userId: string, now: Instant): Promise<StoredSession[]> {
      const rows = await database.all<ListedRow>(sql`
        SELECT id, user_agent, address, ${instant('started_at')}, ${instant('last_active_at')}
        FROM sessions
        WHERE user_id = ${uuid(userId)} AND expires_at > ${at(now)}
        ORDER BY sessions.started_at DESC, id`)
      return rows.map(({ id, user_agent, address, started_at, last_active_at }) => ({
        id,
        userAgent: user_agent,
        address,
        startedAt: started_at,
        lastActiveAt: last_active_at,
      }))
    },

    /**
     * Stores that the session is active now, unless a request within ACTIVITY_STEP_US before has
     * stored that.
     */
    async noteActivity(id: string, now: Instant): Promise<void> {
      await database.run(sql`
        UPDATE sessions SET last_active_at = ${at(now)}
        WHERE id = ${uuid(id)} AND last_active_at <= ${at(now - ACTIVITY_STEP_US)}`)
    },

    /** Ends one session of the user. False if there is no such session. */
    async endSession(userId: string, id: string, actor: Actor): Promise<boolean> {
      return act(database, actor, async (transaction, note) => {
        const ended = await transaction.run(
          sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)} AND id = ${uuid(id)}`,
        )
        if (ended === 1) note('session ended', userId, id)
        return ended === 1
      })
    },
  }
}
