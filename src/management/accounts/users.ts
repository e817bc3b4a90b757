import type { User, UserStore } from '../../listing/accounts/user.ts'
import type { Database, Queries } from '../database.ts'
import { removeUser } from './removed-user.ts'
import { userColumns } from './user-columns.ts'
import { at, type Sql, sql, uuid } from '../sql.ts'

export function users(database: Database): Omit<UserStore, 'setDisabled' | 'setEmail'> {
  const columns = userColumns(database.dialect)

  return {
    insertUser: (user) => insertUser(database, user),

    async findUser(email) {
      return database.get<User>(sql`SELECT ${columns} FROM users WHERE email = ${email}`)
    },

    async findExternalUser(externalId) {
      return database.get<User>(sql`SELECT ${columns} FROM users WHERE external_id = ${externalId}`)
    },

    removeUser: (userId) => removeUser(database, userId),
  }
}

/** False if the email address or the external id is taken. */
export async function insertUser(queries: Queries, user: User): Promise<boolean> {
  const inserted = await queries.run(sql`${insertionOf(user)} ON CONFLICT DO NOTHING`)
  return inserted === 1
}

/** Without the clause that says what happens if a value is taken. */
export function insertionOf({ id, email, external_id, created_at, disabled_at }: User): Sql {
  const disabledAt = disabled_at === null ? null : at(disabled_at)
  return sql`
    INSERT INTO users (id, email, external_id, created_at, disabled_at)
    VALUES (${uuid(id)}, ${email}, ${external_id}, ${at(created_at)}, ${disabledAt})`
}
