import { type Dialect, PostgresDialect } from 'kysely'
import type { Database } from './database.ts'

/** The database as the sign-in library asks it: by the pool that everything else but uses goes through. */
export function accountsDialect(database: Database): Dialect {
  return new PostgresDialect({
    pool: { connect: database.acquire, end: async () => {}, options: {} },
  })
}
