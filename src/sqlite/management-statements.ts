import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Queries, Transaction } from '../database/database.ts'
import { isTyped, raw, type Sql, sql, type Value } from '../database/sql.ts'

/** The maximum of prepared statements per connection. */
const STATEMENTS_MAX = 200

/** What runs on a connection, in a transaction or outside of one. */
export type StatementQueries = Queries &
  Pick<Transaction, 'runGiven'> & {
    /** Reads a row when the caller asks for it. */
    iterate(query: Sql): Iterator<object>
  }

/** Prepares each statement when it is first used, and keeps it. */
export function queriesOn(connection: DatabaseSync): StatementQueries {
  const statements = new Map<string, StatementSync>()

  /** Numbers the values behind `given` parameters that the statement names itself. */
  function prepare({ texts, values }: Sql, given = 0): StatementSync {
    const text = texts.reduce(
      (before, after, index) => before + placeholder(values[index - 1]!, given + index) + after,
    )
    const known = statements.get(text)
    if (known !== undefined) return known
    if (statements.size >= STATEMENTS_MAX) statements.clear()
    const statement = connection.prepare(text)
    statements.set(text, statement)
    return statement
  }

  return {
    all: async <Row>(query: Sql) =>
      prepare(query)
        .all(...parametersOf(query))
        .map((row) => ({ ...row }) as Row),

    iterate: (query) => prepare(query).iterate(...parametersOf(query)),

    async get<Row>(query: Sql) {
      const row = prepare(query).get(...parametersOf(query))
      return row === undefined ? null : ({ ...row } as Row)
    },

    run: async (query) => Number(prepare(query).run(...parametersOf(query)).changes),

    async runGiven(columns, rows, statement) {
      const names = Object.keys(columns)
      const query = statement({
        column: (name) => raw(`?${names.indexOf(name) + 1}`),
        // For VALUES, unlike SELECT, SQLite opens no savepoint around each row.
        rowsOf: (values) => sql`VALUES (${values})`,
        from: sql``,
      })
      const prepared = prepare(query, names.length)
      // The driver takes twice as long to bind values by name as by position.
      const parameters = [...names.map(() => null), ...parametersOf(query)]
      let changed = 0
      for (const row of rows as readonly Record<string, SQLInputValue>[]) {
        for (let index = 0; index < names.length; index += 1)
          parameters[index] = row[names[index]!]!
        changed += Number(prepared.run(...parameters).changes)
      }
      return changed
    },
  }
}

function placeholder(value: Value, number: number): string {
  if (!isTyped(value) || typeof value.value !== 'object') return `?${number}`
  return value.type === 'bytes'
    ? `IN (SELECT unhex(value) FROM json_each(?${number}))`
    : `IN (SELECT value FROM json_each(?${number}))`
}

function parametersOf({ values }: Sql): SQLInputValue[] {
  return values.map(parameterOf)
}

function parameterOf(value: Value): SQLInputValue {
  if (!isTyped(value)) return value
  if (value.type === 'bytes')
    return JSON.stringify(value.value.map((one) => Buffer.from(one).toString('hex')))
  return typeof value.value === 'object' ? JSON.stringify(value.value) : value.value
}
