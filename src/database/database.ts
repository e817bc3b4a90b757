import type { Instant } from '../model/instant.ts'
import type { Sql } from './sql.ts'

/** Runs statements: a database runs each in a transaction of its own. */
export interface Queries {
  all<Row>(query: Sql): Promise<Row[]>
  /** The first row, or null. */
  get<Row>(query: Sql): Promise<Row | null>
  /** Returns the number of rows that the statement changed. */
  run(query: Sql): Promise<number>
}

export interface Transaction extends Queries {
  /**
   * Locks the rows, in the order of their ids, until the transaction ends. To avoid deadlocks, lock
   * users before organizations and all of them before rows that refer to them. Does nothing on
   * SQLite, where a writer is alone.
   */
  lock(table: LockedTable, ids: readonly string[], strength?: LockStrength): Promise<void>
  /**
   * Runs a statement for many rows, which have a value for each column. PostgreSQL runs it once
   * and reads the rows as a table. SQLite runs it for each row, which is faster there.
   */
  runGiven(
    columns: GivenColumns,
    rows: readonly object[],
    statement: (given: Given) => Sql,
  ): Promise<number>
  /**
   * Locks names for which there may be no row, in one order for all callers. Does nothing on
   * SQLite.
   */
  lockNames(names: readonly string[]): Promise<void>
}

export type LockedTable = 'users' | 'organizations' | 'api_keys' | 'servers'

/**
 * What other transactions must wait for: with `change` (the default) to change or lock the rows,
 * with `remove` also to add rows that refer to them, with `keep` only to remove them.
 */
export type LockStrength = 'change' | 'remove' | 'keep'

/** An engine's database connection, for the control plane. */
export interface Database extends Queries {
  /**
   * Runs `body` as one transaction. An engine may run it again from the start, so it must have no
   * other effects. It must await nothing but its queries: SQLite rolls back a transaction that
   * does.
   */
  transact<Result>(body: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Runs queries that all read the database as it was at one moment. Other writers need not wait.
   * `body` must await nothing but its queries.
   */
  snapshot<Result>(body: (queries: Queries) => Promise<Result>): Promise<Result>
  /**
   * Runs one query and hands over its rows in parts of `rowsMax`, which is how long the event loop
   * is held. Other work runs between two parts. All rows are from one moment.
   */
  readParts(query: Sql, rowsMax: number, onRows: (rows: unknown[]) => void): Promise<void>
  readonly dialect: Dialect
}

/** Rows that a statement is given. */
export interface Given {
  /** The value in this column. */
  column(name: string): Sql
  /** After INSERT INTO: the rows to insert, with these values each. */
  rowsOf(values: Sql): Sql
  /** After the columns of an UPDATE: the table that has the rows, or nothing. */
  readonly from: Sql
}

/** The columns of given rows, and the kind of their values. */
export type GivenColumns = Readonly<
  Record<string, 'uuid' | 'text' | 'integer' | 'instant' | 'bytes'>
>

/** How the audit log is read in the order of its commits. */
export interface AuditOrder {
  /** The column that has the order, and its type. Entries of one transaction may share a value. */
  column: 'rowid' | 'xid'
  type: 'INTEGER' | 'xid8'
  /** True for an entry before which none can appear any more. */
  settled: Sql
  /** True for an entry that a dump has brought from a server with numbers of its own. */
  foreign: Sql
}

/** The SQL that the engines spell differently. */
export interface Dialect {
  /**
   * A column that holds instants, read as microseconds. An instant beyond ±INSTANT_MAX reads as
   * that bound. ORDER BY must name the table, because the alias hides the column.
   */
  instant(column: string): Sql
  /** A query for the API keys that `where` selects, as records with their last use. */
  selectApiKeys(where: Sql): Sql
  /**
   * Records `last_used_at` of given new keys, which another service has granted at least one second
   * ago. A later use that the database has stays.
   */
  recordLastUses(given: Given): Sql
  /** A query for the ids of the keys that were used last. */
  recentApiKeys(keysMax: number): Sql
  /**
   * A query for the working keys without a use since an instant, or since their issue: `place`,
   * `id` and `idle_since`. A place is the value of `keyPlace`.
   */
  idleApiKeys(since: Instant): Sql
  /** The column in whose order keys lie together, and a value below all of them. */
  readonly keyPlace: Sql
  readonly firstKeyPlace: string | number
  readonly auditOrder: AuditOrder
  /** A query for the facts about the database that the operator's page shows. */
  readonly databaseFacts: Sql
  /** After an ORDER BY expression: order text by its bytes. */
  readonly byBytes: Sql
  /**
   * At the end of a `WITH … AS MATERIALIZED`: leave out rows that another transaction has locked.
   * PostgreSQL may evaluate a plain subquery once for each row, and then LIMIT bounds nothing.
   */
  readonly skipLocked: Sql
  /** True if the error says that a unique value is taken. */
  isTaken(error: unknown): boolean
}
