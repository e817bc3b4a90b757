import type { DatabaseSync } from 'node:sqlite'

/** Rows of one statement. To run a statement costs as much as to write a row. */
const ROWS_AT_ONCE = 16

/** Puts the values of the row with this index into `values`, from `at` on. */
type FillRow = (index: number, values: number[], at: number) => void

/**
 * Prepares statements that write rows of `width` numbers. `statement` makes one from its VALUES.
 * Returns a function that writes a number of rows. Needs an open transaction: a fault leaves the
 * rows before it.
 */
export function prepareRows(
  database: DatabaseSync,
  width: number,
  statement: (values: string) => string,
): (count: number, fill: FillRow) => void {
  const write = prepare(database, width, 1, statement)
  const writeSeveral = prepare(database, width, ROWS_AT_ONCE, statement)

  return (count, fill) => {
    let written = 0
    for (; written + ROWS_AT_ONCE <= count; written += ROWS_AT_ONCE) writeSeveral(written, fill)
    for (; written < count; written += 1) write(written, fill)
  }
}

function prepare(
  database: DatabaseSync,
  width: number,
  rows: number,
  statement: (values: string) => string,
): (first: number, fill: FillRow) => void {
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  const prepared = database.prepare(statement(Array.from({ length: rows }, () => row).join(', ')))
  // Reused, so that a row makes no garbage.
  const values = Array.from({ length: rows * width }, () => 0)

  return (first, fill) => {
    for (let index = 0; index < rows; index += 1) fill(first + index, values, index * width)
    prepared.run(...values)
  }
}
