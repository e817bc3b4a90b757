import type { Store } from '../listing/store.ts'
import type { User } from '../listing/user.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'

const COLUMNS = `id, email, ${microsecondsOf('created_at')}`

export function users(
  database: Database,
): Pick<Store, 'insertUser' | 'findUser' | 'listUsers' | 'removeUser'> {
  return {
    async insertUser(user) {
      const inserted = await database.query(
        `INSERT INTO users (id, email, name, created_at, updated_at)
         VALUES ($1, $2, $2, ${timestampOf('$3')}, ${timestampOf('$3')})
         ON CONFLICT (email) DO NOTHING RETURNING id`,
        [user.id, user.email, user.created_at],
      )
      return inserted.length === 1
    },

    async findUser(email) {
      const rows = await database.query<UserRow>(`SELECT ${COLUMNS} FROM users WHERE email = $1`, [
        email,
      ])
      return rows[0] === undefined ? null : toUser(rows[0])
    },

    async listUsers() {
      const rows = await database.query<UserRow>(
        `SELECT ${COLUMNS} FROM users ORDER BY email COLLATE "C"`,
      )
      return rows.map(toUser)
    },

    async removeUser(email) {
      const removed = await database.query('DELETE FROM users WHERE email = $1 RETURNING id', [
        email,
      ])
      return removed.length > 0
    },
  }
}

type UserRow = Omit<User, 'created_at'> & { created_at: string }

function toUser(row: UserRow): User {
  return { ...row, created_at: toInstant(row.created_at) }
}
