import type { Given, GivenColumns, Transaction } from './database.ts'
import { raw, type Sql, sql } from './sql.ts'

/** Columns by the kind of their values: names with a space between them. */
export function columnsOf(names: Partial<Record<GivenColumns[string], string>>): GivenColumns {
  const kinds = Object.entries(names) as [GivenColumns[string], string][]
  return Object.fromEntries(
    kinds.flatMap(([kind, list]) => list.split(' ').map((name) => [name, kind])),
  )
}

/** Runs a statement for these rows, if there are any. Returns how many rows it changed. */
export async function writeGiven(
  transaction: Transaction,
  columns: GivenColumns,
  rows: readonly object[],
  statement: (given: Given) => Sql,
): Promise<number> {
  return rows.length === 0 ? 0 : transaction.runGiven(columns, rows, statement)
}

/** Inserts these columns of the rows. `onConflict` is the clause for rows that exist. */
export function insertGiven(
  transaction: Transaction,
  table: string,
  columns: GivenColumns,
  rows: readonly object[],
  onConflict = sql``,
): Promise<number> {
  const names = Object.keys(columns)
  return writeGiven(transaction, columns, rows, ({ column, rowsOf }) => {
    const values = list(names.map((name) => column(name)))
    return sql`INSERT INTO ${raw(table)} (${raw(names.join(', '))}) ${rowsOf(values)} ${onConflict}`
  })
}

/** Sets these columns in the rows with the same ids. */
export function updateGiven(
  transaction: Transaction,
  table: string,
  columns: GivenColumns,
  rows: readonly object[],
): Promise<number> {
  const given = { id: 'uuid', ...columns } as const
  const names = Object.keys(columns)
  return writeGiven(transaction, given, rows, ({ column, from }) => {
    const values = list(names.map((name) => sql`${raw(name)} = ${column(name)}`))
    return sql`UPDATE ${raw(table)} SET ${values} ${from} WHERE ${raw(table)}.id = ${column('id')}`
  })
}

/**
 * Inserts the new rows, and sets in the others the columns that differ. A column that stays keeps
 * its value, even if another program has just changed it.
 */
export async function saveGiven<Row extends { id: string }>(
  transaction: Transaction,
  table: string,
  columns: GivenColumns,
  changes: readonly { before: Row | null; after: Row | null }[],
): Promise<void> {
  const added = changes.flatMap(({ before, after }) => (before === null ? [after!] : []))
  await insertGiven(transaction, table, columns, added)
  const changed = changes.flatMap(({ before, after }) =>
    before && after ? [{ before, after }] : [],
  )
  const names = Object.keys(columns) as (keyof Row & string)[]
  const differing = Map.groupBy(changed, ({ before, after }) =>
    names.filter((name) => before[name] !== after[name]).join(),
  )
  differing.delete('')
  for (const [list, same] of differing) {
    const kinds = list.split(',').map((name) => [name, columns[name]!] as const)
    const rows = same.map(({ after }) => after)
    await updateGiven(transaction, table, Object.fromEntries(kinds), rows)
  }
}

const list = (parts: readonly Sql[]): Sql => parts.reduce((one, other) => sql`${one}, ${other}`)
