import type { Actor } from '../../model/audit.ts'
import { nameOf, type User } from '../user.ts'
import type { Database, Queries } from '../../database/database.ts'
import { act } from './audit.ts'
import { userColumns } from './user-columns.ts'
import { at, type Sql, sql, uuid } from '../../database/sql.ts'

export function users(database: Database) {
  const columns = userColumns(database.dialect)

  return {
    /**
     * False if the email address or the external id is taken. Exactly one of several concurrent
     * callers gets true.
     */
    insertUser: (user: User, actor: Actor): Promise<boolean> =>
      act(database, actor, async (transaction, note) => {
        const isInserted = await insertUser(transaction, user)
        if (isInserted) note('user added', user.id, nameOf(user))
        return isInserted
      }),

    async findUser(email: string): Promise<User | null> {
      return database.get<User>(sql`SELECT ${columns} FROM users WHERE email = ${email}`)
    },

    async findExternalUser(externalId: string): Promise<User | null> {
      return database.get<User>(sql`SELECT ${columns} FROM users WHERE external_id = ${externalId}`)
    },
  }
}

/** False if the email address or the external id is taken. */
export async function insertUser(queries: Queries, user: User): Promise<boolean> {
  return (await queries.run(sql`${insertionOf(user)} ON CONFLICT DO NOTHING`)) === 1
}

/** Without the clause that says what happens if a value is taken. */
export function insertionOf({ id, email, external_id, created_at }: User): Sql {
  return sql`
    INSERT INTO users (id, email, external_id, created_at)
    VALUES (${uuid(id)}, ${email}, ${external_id}, ${at(created_at)})`
}
