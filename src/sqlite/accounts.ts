import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import {
  type AccountStore,
  AUDIT_DROPPED,
  AUDIT_KEPT,
  type AuditEntry,
} from '../listing/accounts.ts'
import { formatInstant } from '../listing/instant.ts'
import type { User } from '../listing/user.ts'
import { transact } from './database.ts'

export function accounts(
  database: DatabaseSync,
): Omit<AccountStore, 'beginAttempt' | 'forgetAttempts'> {
  const anyUser = database.prepare('SELECT 1 FROM users LIMIT 1')
  const insertUser = database.prepare(`
    INSERT INTO users (id, email, name, created_at, updated_at) VALUES (?1, ?2, ?2, ?3, ?3)
    ON CONFLICT (email) DO NOTHING
  `)
  const savePassword = database.prepare(`
    INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
    VALUES (:id, :user_id, 'credential', :user_id, :password, :now, :now)
    ON CONFLICT (provider_id, account_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at
  `)
  const endSessions = database.prepare('DELETE FROM sessions WHERE user_id = ?')
  const dropEndedSessions = database.prepare(
    'DELETE FROM sessions WHERE user_id = ? AND expires_at < ?',
  )
  const changeEmail = database.prepare(`
    UPDATE OR IGNORE users SET email = ?1, name = ?1, updated_at = ?2 WHERE id = ?3
  `)
  const keep = database.prepare('INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING')
  const findSecret = database.prepare('SELECT value FROM secrets WHERE name = ?')
  const dropSetup = database.prepare(`DELETE FROM secrets WHERE name = 'setup'`)
  const spend = database.prepare(`DELETE FROM secrets WHERE name = 'setup' AND value = ?`)
  const writeAudit = database.prepare(`
    INSERT INTO audit_log (id, occurred_at, user_id, action, subject, address)
    VALUES (:id, :occurred_at, :user_id, :action, :subject, :address)
  `)
  const dropAudit = database.prepare(`
    DELETE FROM audit_log WHERE id IN
      (SELECT id FROM audit_log WHERE occurred_at < ? ORDER BY occurred_at LIMIT ${AUDIT_DROPPED})
  `)
  const listAudit = database.prepare(`
    SELECT user_id, action, subject, address, occurred_at FROM audit_log
    WHERE user_id = ? ORDER BY occurred_at DESC, id LIMIT ?
  `)

  function insert(user: User, passwordHash: string): boolean {
    const now = formatInstant(user.created_at)
    if (insertUser.run(user.id, user.email, now).changes === 0) return false
    savePassword.run({ id: randomUUID(), user_id: user.id, password: passwordHash, now })
    dropSetup.run()
    return true
  }

  return {
    async hasUsers() {
      return anyUser.get() !== undefined
    },

    async insertUserWithPassword(user, passwordHash) {
      return transact(database, () => insert(user, passwordHash))
    },

    async insertFirstUser(user, passwordHash, setupToken) {
      return transact(database, () => {
        if (anyUser.get() !== undefined || spend.run(setupToken).changes === 0) return false
        return insert(user, passwordHash)
      })
    },

    async setPassword(userId, passwordHash, now) {
      transact(database, () => {
        endSessions.run(userId)
        savePassword.run({
          id: randomUUID(),
          user_id: userId,
          password: passwordHash,
          now: formatInstant(now),
        })
      })
    },

    async changeEmail(userId, email, now) {
      return changeEmail.run(email, formatInstant(now), userId).changes === 1
    },

    async endSessions(userId) {
      endSessions.run(userId)
    },

    async dropEndedSessions(userId, now) {
      dropEndedSessions.run(userId, formatInstant(now))
    },

    async keepSecret(name, fresh) {
      keep.run(name, fresh)
      return findSecret.get(name)?.value as string
    },

    async findSecret(name) {
      return (findSecret.get(name)?.value as string | undefined) ?? null
    },

    async writeAudit(entry) {
      transact(database, () => {
        writeAudit.run({ ...entry, id: randomUUID() })
        dropAudit.run(entry.occurred_at - AUDIT_KEPT)
      })
    },

    async listAudit(userId, entriesMax) {
      return listAudit.all(userId, entriesMax).map((row) => ({ ...row }) as unknown as AuditEntry)
    },
  }
}
