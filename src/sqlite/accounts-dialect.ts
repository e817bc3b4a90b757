import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { rollBack, whenUnlocked } from './database.ts'

/**
 * The database as the sign-in library asks it: single statements on the connection that is given, each of which is
 * tried again while another process holds the file's lock.
 */
export function accountsDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function createDriver(database: DatabaseSync): Driver {
  const connection: DatabaseConnection = {
    executeQuery: <R>({ sql, parameters }: CompiledQuery) =>
      whenUnlocked(() => execute<R>(database, sql, parameters)),
    streamQuery() {
      throw new Error('nothing is streamed')
    },
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: noTransactions,
    commitTransaction: noTransactions,
    rollbackTransaction: noTransactions,
    releaseConnection: async () => {},
    destroy: async () => {},
  }
}

async function noTransactions(): Promise<never> {
  throw new Error('sign-in uses single statements: a transaction would stay open between turns')
}

function execute<R>(
  database: DatabaseSync,
  sql: string,
  parameters: readonly unknown[],
): QueryResult<R> {
  rollBack(database)
  const statement = database.prepare(sql)
  const values = parameters as SQLInputValue[]
  if (statement.columns().length > 0) return { rows: statement.all(...values) as R[] }
  const { changes } = statement.run(...values)
  return { rows: [], numAffectedRows: BigInt(changes) }
}
