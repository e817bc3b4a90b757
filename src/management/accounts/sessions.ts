import { formatInstant, type Instant } from '../../listing/instant.ts'
import {
  EXPIRED_DROPPED,
  SESSIONS_MAX,
  type SessionStore,
} from '../../listing/accounts/sessions.ts'
import type { Database } from '../database.ts'
import { findPasswordHash } from './passwords.ts'
import { sql, strings, uuid } from '../sql.ts'
import { instantOf } from './users.ts'

interface SessionRow {
  id: string
  token: string
  user_id: string
  email: string
  created_at: Instant | string
}

interface ListedRow {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: Instant | string
}

export function sessions(database: Database): Omit<SessionStore, keyof SessionListStore> {
  const { instant, skipLocked } = database.dialect

  return {
    async beginSession(session, checked, renewed) {
      const { userId, tokenHash, userAgent, address, startedAt, expiresAt } = session
      const started = formatInstant(startedAt)
      const user = uuid(userId)
      return database.transact(async (transaction) => {
        await transaction.lock('users', [userId])
        if ((await findPasswordHash(transaction, userId)) !== checked) return false
        if (renewed !== null)
          await transaction.run(sql`
            UPDATE accounts SET password = ${renewed}, updated_at = ${started}
            WHERE user_id = ${user} AND provider_id = 'credential'`)
        await transaction.run(sql`
          DELETE FROM sessions WHERE user_id = ${user} AND id NOT IN (
            SELECT id FROM sessions WHERE user_id = ${user}
            ORDER BY created_at DESC, id LIMIT ${SESSIONS_MAX - 1}
          )`)
        // The only lock on rows of other users. It waits for none of them, so it is in no deadlock.
        await transaction.run(sql`
          WITH old AS MATERIALIZED (
            SELECT id FROM sessions WHERE expires_at <= ${started}
            ORDER BY expires_at LIMIT ${EXPIRED_DROPPED} ${skipLocked}
          ) DELETE FROM sessions WHERE id IN (SELECT id FROM old)`)
        await transaction.run(sql`
          INSERT INTO sessions (id, user_id, token, user_agent, ip_address, created_at, updated_at, expires_at)
          VALUES (${crypto.randomUUID()}, ${user}, ${tokenHash}, ${userAgent}, ${address},
            ${started}, ${started}, ${formatInstant(expiresAt)})`)
        return true
      })
    },

    async findSession(tokenHashes, now) {
      const rows = await database.all<SessionRow>(sql`
        SELECT sessions.id, token, user_id, email, ${instant('sessions.created_at')}
        FROM sessions JOIN users ON users.id = user_id
        WHERE token IN (${strings(tokenHashes)}) AND expires_at > ${formatInstant(now)}`)
      const byToken = new Map(rows.map((row) => [row.token, row]))
      const first = tokenHashes.find((tokenHash) => byToken.has(tokenHash))
      if (first === undefined) return null
      const { id, user_id: userId, email, created_at } = byToken.get(first)!
      return { id, userId, email, startedAt: instantOf(created_at) }
    },

    async endSessions(userId) {
      await database.run(sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)}`)
    },

    async endSessionsOf(tokenHashes) {
      await database.run(sql`DELETE FROM sessions WHERE token IN (${strings(tokenHashes)})`)
    },
  }
}

/** The methods for the list of a user's sessions. */
type SessionListStore = Pick<SessionStore, 'listSessions' | 'endSession'>

export function sessionList(database: Database): SessionListStore {
  const { instant } = database.dialect

  return {
    async listSessions(userId, now) {
      const rows = await database.all<ListedRow>(sql`
        SELECT id, user_agent, ip_address, ${instant('created_at')} FROM sessions
        WHERE user_id = ${uuid(userId)} AND expires_at > ${formatInstant(now)}
        ORDER BY sessions.created_at DESC, id`)
      // Sessions of earlier versions have no address.
      return rows.map(({ id, user_agent, ip_address, created_at }) => ({
        id,
        userAgent: user_agent ?? '',
        address: ip_address ?? '',
        startedAt: instantOf(created_at),
      }))
    },

    async endSession(userId, id) {
      const ended = await database.run(
        sql`DELETE FROM sessions WHERE user_id = ${uuid(userId)} AND id = ${uuid(id)}`,
      )
      return ended === 1
    },
  }
}
