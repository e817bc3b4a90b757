import type { Dialect } from '../database.ts'
import { raw, type Sql, sql } from '../sql.ts'

/** The columns of a user. */
export const userColumns = ({ instant }: Dialect): Sql =>
  sql`id, email, external_id, ${instant('created_at')}, ${instant('disabled_at')}`

/** What `nameOf` returns, as an expression. */
export const USER_NAME = raw('coalesce(users.email, users.external_id, CAST(users.id AS text))')
