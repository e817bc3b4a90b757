import type { DatabaseSync } from 'node:sqlite'

/** Rows of one statement. To run a statement costs as much as to write a row. */
const ROWS_AT_ONCE = 16

/**
 * Prepares statements that write rows of `width` columns. `statement` makes one from its VALUES.
 * Returns a function that writes rows whose values follow each other. Needs an open transaction: a
 * fault leaves the rows before it.
 */
export function prepareRows(
  database: DatabaseSync,
  width: number,
  statement: (values: string) => string,
): (values: readonly number[]) => void {
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  const one = database.prepare(statement(row))
  const several = database.prepare(
    statement(Array.from({ length: ROWS_AT_ONCE }, () => row).join(', ')),
  )

  return (values) => {
    let at = 0
    for (let end = width * ROWS_AT_ONCE; end <= values.length; end = at + width * ROWS_AT_ONCE) {
      several.run(...values.slice(at, end))
      at = end
    }
    for (; at < values.length; at += width) one.run(...values.slice(at, at + width))
  }
}
