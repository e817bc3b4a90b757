import type { Store } from '../listing/store.ts'
import type { User } from '../listing/user.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'
import { giveBack } from './organizations.ts'
import { ALONE, HAND_OVER } from './removed-user.ts'

const COLUMNS = `id, email, ${microsecondsOf('created_at')}`

/** Nobody joins or leaves them until the transaction ends. */
const LOCK_ORGANIZATIONS = `
  SELECT FROM organizations WHERE id IN (SELECT organization_id FROM members WHERE user_id = $1)
  ORDER BY id FOR UPDATE
`
const GIVE_BACK_OTHERS = giveBack(
  `SELECT id FROM servers WHERE organization_id IN (${ALONE}) AND created_by <> $1`,
)

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
      return database.transact(async (client) => {
        const { rows } = await client.query(
          'SELECT id FROM users WHERE email = $1 FOR NO KEY UPDATE',
          [email],
        )
        if (rows.length === 0) return false
        const user = [rows[0].id as string]
        await client.query(LOCK_ORGANIZATIONS, user)
        await client.query(HAND_OVER, user)
        await client.query(GIVE_BACK_OTHERS, user)
        await client.query(`DELETE FROM organizations WHERE id IN (${ALONE})`, user)
        await client.query('DELETE FROM users WHERE id = $1', user)
        return true
      })
    },
  }
}

type UserRow = Omit<User, 'created_at'> & { created_at: string }

function toUser(row: UserRow): User {
  return { ...row, created_at: toInstant(row.created_at) }
}
