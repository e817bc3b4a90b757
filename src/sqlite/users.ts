import type { DatabaseSync } from 'node:sqlite'
import { formatInstant, parseInstant, presentInstant } from '../listing/instant.ts'
import { inParts } from '../listing/parts.ts'
import type { Store } from '../listing/store.ts'
import type { User } from '../listing/user.ts'
import { transact } from './database.ts'
import { giveBack } from './organizations.ts'
import { ALONE, HAND_OVER } from './removed-user.ts'

export function users(
  database: DatabaseSync,
): Pick<Store, 'insertUser' | 'findUser' | 'listUsers' | 'removeUser'> {
  const insert = database.prepare(`
    INSERT INTO users (id, email, name, created_at, updated_at) VALUES (?1, ?2, ?2, ?3, ?3)
    ON CONFLICT (email) DO NOTHING
  `)
  const find = database.prepare('SELECT id, email, created_at FROM users WHERE email = ?')
  const list = database.prepare('SELECT id, email, created_at FROM users ORDER BY email')

  const endKeys = database.prepare(
    'UPDATE api_keys SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL',
  )
  const endSessions = database.prepare('DELETE FROM sessions WHERE user_id = ?')
  const removePasswords = database.prepare('DELETE FROM accounts WHERE user_id = ?')
  const removeServers = database.prepare(
    'DELETE FROM servers WHERE id IN (SELECT id FROM servers WHERE created_by = ? LIMIT ?)',
  )
  const handOver = database.prepare(HAND_OVER)
  const giveBackOthers = database.prepare(
    giveBack(`
      SELECT id FROM servers WHERE organization_id IN (${ALONE}) AND created_by <> :user LIMIT :rows
    `),
  )
  const removeOrganizations = database.prepare(
    `DELETE FROM organizations WHERE id IN (${ALONE})
       AND NOT EXISTS (SELECT 1 FROM servers WHERE organization_id = organizations.id)`,
  )
  const remove = database.prepare('DELETE FROM users WHERE id = ?')

  return {
    async insertUser(user) {
      return insert.run(user.id, user.email, formatInstant(user.created_at)).changes === 1
    },

    async findUser(email) {
      const row = find.get(email)
      return row === undefined ? null : toUser(row)
    },

    async listUsers() {
      return list.all().map(toUser)
    },

    async removeUser(email) {
      const user = find.get(email)?.id as string | undefined
      if (user === undefined) return false
      transact(database, () => {
        endKeys.run(presentInstant(), user)
        endSessions.run(user)
        removePasswords.run(user)
      })
      await inParts(async (rows) => Number(removeServers.run(user, rows).changes))
      await inParts(async (rows) => Number(giveBackOthers.run({ user, rows }).changes))
      return transact(database, () => {
        handOver.run({ user })
        removeOrganizations.run({ user })
        return remove.run(user).changes > 0
      })
    },
  }
}

function toUser(row: Record<string, unknown>): User {
  const { id, email, created_at } = row as { id: string; email: string; created_at: string }
  return { id, email, created_at: parseInstant(created_at) ?? 0 }
}
