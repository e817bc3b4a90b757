import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import {
  type AccountStore,
  AUDIT_DROPPED,
  AUDIT_KEPT,
  type AuditEntry,
} from '../listing/accounts.ts'
import type { User } from '../listing/user.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'

export function accounts(
  database: Database,
): Omit<AccountStore, 'beginAttempt' | 'forgetAttempts'> {
  return {
    async hasUsers() {
      const rows = await database.query('SELECT FROM users LIMIT 1')
      return rows.length > 0
    },

    async insertUserWithPassword(user, passwordHash) {
      return database.transact((client) => insert(client, user, passwordHash))
    },

    async insertFirstUser(user, passwordHash, setupToken) {
      return database.transact(async (client) => {
        // Whoever holds the token's row is the only one who can spend it.
        const spent = await client.query(
          `DELETE FROM secrets WHERE name = 'setup' AND value = $1 AND NOT EXISTS (SELECT FROM users)`,
          [setupToken],
        )
        return spent.rowCount === 1 && (await insert(client, user, passwordHash))
      })
    },

    async setPassword(userId, passwordHash, now) {
      await database.transact(async (client) => {
        await client.query('DELETE FROM sessions WHERE user_id = $1', [userId])
        await savePassword(client, userId, passwordHash, now)
      })
    },

    async changeEmail(userId, email, now) {
      try {
        const changed = await database.query(
          `UPDATE users SET email = $1, name = $1, updated_at = ${timestampOf('$2')} WHERE id = $3 RETURNING id`,
          [email, now, userId],
        )
        return changed.length === 1
      } catch (error) {
        if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false
        throw error
      }
    },

    async endSessions(userId) {
      await database.query('DELETE FROM sessions WHERE user_id = $1', [userId])
    },

    async dropEndedSessions(userId, now) {
      await database.query(
        `DELETE FROM sessions WHERE user_id = $1 AND expires_at < ${timestampOf('$2')}`,
        [userId, now],
      )
    },

    async keepSecret(name, fresh) {
      await database.query('INSERT INTO secrets VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        name,
        fresh,
      ])
      return (await findSecret(name))!
    },

    findSecret,

    async writeAudit({ occurred_at, user_id, action, subject, address }) {
      await database.query(
        `WITH old AS (
           DELETE FROM audit_log WHERE id IN (
             SELECT id FROM audit_log WHERE occurred_at < ${timestampOf('$6')}
             ORDER BY occurred_at LIMIT ${AUDIT_DROPPED} FOR UPDATE SKIP LOCKED
           )
         )
         INSERT INTO audit_log (id, occurred_at, user_id, action, subject, address)
         VALUES (gen_random_uuid(), ${timestampOf('$1')}, $2, $3, $4, $5)`,
        [occurred_at, user_id, action, subject, address, occurred_at - AUDIT_KEPT],
      )
    },

    async listAudit(userId, entriesMax) {
      const rows = await database.query<AuditEntry & { occurred_at: string }>(
        `SELECT user_id, action, subject, address, ${microsecondsOf('occurred_at')} FROM audit_log
         WHERE user_id = $1 ORDER BY audit_log.occurred_at DESC, id LIMIT $2`,
        [userId, entriesMax],
      )
      return rows.map((row) => ({ ...row, occurred_at: toInstant(row.occurred_at) }))
    },
  }

  async function findSecret(name: string): Promise<string | null> {
    const rows = await database.query<{ value: string }>(
      'SELECT value FROM secrets WHERE name = $1',
      [name],
    )
    return rows[0]?.value ?? null
  }
}

const UNIQUE_VIOLATION = '23505'

async function insert(client: ClientBase, user: User, passwordHash: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO users (id, email, name, created_at, updated_at)
     VALUES ($1, $2, $2, ${timestampOf('$3')}, ${timestampOf('$3')}) ON CONFLICT (email) DO NOTHING`,
    [user.id, user.email, user.created_at],
  )
  if (rowCount === 0) return false
  await savePassword(client, user.id, passwordHash, user.created_at)
  await client.query(`DELETE FROM secrets WHERE name = 'setup'`)
  return true
}

async function savePassword(
  client: ClientBase,
  userId: string,
  passwordHash: string,
  now: number,
): Promise<void> {
  await client.query(
    `INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
     VALUES ($1, $2::uuid, 'credential', $2::uuid::text, $3, ${timestampOf('$4')}, ${timestampOf('$4')})
     ON CONFLICT (provider_id, account_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at`,
    [randomUUID(), userId, passwordHash, now],
  )
}
