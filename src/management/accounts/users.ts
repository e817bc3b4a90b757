import { formatInstant, type Instant, parseInstant } from '../../listing/instant.ts'
import type { User, UserStore } from '../../listing/accounts/user.ts'
import type { Database, Queries } from '../database.ts'
import { removeUser } from './removed-user.ts'
import { type Sql, sql, uuid } from '../sql.ts'

export function users(database: Database): UserStore {
  const { instant } = database.dialect
  const columns = sql`id, email, ${instant('created_at')}`

  return {
    insertUser: (user) => insertUser(database, user),

    async findUser(email) {
      const row = await database.get<UserRow>(
        sql`SELECT ${columns} FROM users WHERE email = ${email}`,
      )
      return row === null ? null : toUser(row)
    },

    removeUser: (userId) => removeUser(database, userId),
  }
}

/** False if the email is taken. */
export async function insertUser(queries: Queries, user: User): Promise<boolean> {
  const inserted = await queries.run(sql`${insertionOf(user)} ON CONFLICT (email) DO NOTHING`)
  return inserted === 1
}

/** Without the clause that says what happens if the email is taken. */
export function insertionOf({ id, email, created_at }: User): Sql {
  const now = formatInstant(created_at)
  return sql`
    INSERT INTO users (id, email, name, created_at, updated_at)
    VALUES (${uuid(id)}, ${email}, ${email}, ${now}, ${now})`
}

type UserRow = Omit<User, 'created_at'> & { created_at: Instant | string }

function toUser(row: UserRow): User {
  return { ...row, created_at: instantOf(row.created_at) }
}

/** SQLite keeps the instants of users and sessions as ISO 8601 text. */
export function instantOf(value: Instant | string): Instant {
  return typeof value === 'string' ? (parseInstant(value) ?? 0) : value
}
