import type { Dialect, Queries } from '../../database/database.ts'
import { raw, type Sql, sql, uuid } from '../../database/sql.ts'

/** The columns of a user. */
export const userColumns = ({ instant }: Dialect): Sql =>
  sql`id, email, external_id, ${instant('created_at')}, ${instant('disabled_at')}, ${instant('banned_at')}`

/** Neither an operator nor the site has ended the user's access. */
export const HAS_ACCESS = raw('users.disabled_at IS NULL AND users.banned_at IS NULL')

/** What `nameOf` returns, as an expression. */
export const USER_NAME = raw('coalesce(users.email, users.external_id, CAST(users.id AS text))')

/** The name of a user, or null if there is none with this id. */
export async function findName(queries: Queries, userId: string): Promise<string | null> {
  const row = await queries.get<{ name: string }>(
    sql`SELECT ${USER_NAME} AS name FROM users WHERE id = ${uuid(userId)}`,
  )
  return row?.name ?? null
}

/** The same for a user who may have been removed meanwhile: then the id. */
export const nameIn = async (queries: Queries, userId: string): Promise<string> =>
  (await findName(queries, userId)) ?? userId
