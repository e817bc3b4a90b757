import type { DatabaseSync } from 'node:sqlite'
import { formatInstant, parseInstant } from '../listing/instant.ts'
import type { Store } from '../listing/store.ts'
import type { User } from '../listing/user.ts'

export function users(
  database: DatabaseSync,
): Pick<Store, 'insertUser' | 'findUser' | 'listUsers' | 'removeUser'> {
  const insert = database.prepare(`
    INSERT INTO users (id, email, name, created_at, updated_at) VALUES (?1, ?2, ?2, ?3, ?3)
    ON CONFLICT (email) DO NOTHING
  `)
  const find = database.prepare('SELECT id, email, created_at FROM users WHERE email = ?')
  const list = database.prepare('SELECT id, email, created_at FROM users ORDER BY email')

  const remove = database.prepare('DELETE FROM users WHERE email = ?')

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
      return remove.run(email).changes > 0
    },
  }
}

function toUser(row: Record<string, unknown>): User {
  const { id, email, created_at } = row as { id: string; email: string; created_at: string }
  return { id, email, created_at: parseInstant(created_at) ?? 0 }
}
