import type { CopySource, CopyTarget, Kind, Row, Table } from '../../src/transfer/copy.ts'

/*
 * Two sides to copy between, without an engine behind them: what they hold can be said in a line,
 * and what goes wrong with one of them too.
 */

export function sourceOf(
  tables: Readonly<Record<string, { columns: string[]; rows: readonly Row[] }>>,
  batchSize = 10,
  onRead: (event: string) => void = () => {},
): CopySource {
  const rowsOf = (name: string) => [...(tables[name]?.rows ?? [])]
  return {
    tables: Object.entries(tables).map(([name, { columns }]) => ({ name, columns })),
    countRows: (name) => rowsOf(name).length,
    *readRows({ name }) {
      const rows = rowsOf(name)
      for (let from = 0; from < rows.length; from += batchSize) {
        const batch = rows.slice(from, from + batchSize)
        onRead(`read ${batch[0]![0]}`)
        yield batch
      }
    },
    fingerprint: ({ name }) => fingerprintOf(rowsOf(name)),
    close() {},
  }
}

export interface Target extends CopyTarget {
  rows: Map<string, Row[]>
  /** The table that each batch was for. */
  written: Table[]
}

interface TargetOptions {
  /** Tables that have a row already. */
  filled?: readonly string[]
  /** What it makes of the rows that arrive. */
  keep?: (rows: readonly Row[]) => Row[]
  onWrite?: (event: string) => void
}

export function targetOf(
  kinds: Readonly<Record<string, Readonly<Record<string, Kind | null>>>>,
  { filled = [], keep = (rows) => [...rows], onWrite = () => {} }: TargetOptions = {},
): Target {
  const rows = new Map<string, Row[]>(filled.map((name) => [name, [['0']]]))
  const written: Table[] = []
  const rowsOf = (name: string) => rows.get(name) ?? []
  return {
    rows,
    written,
    describeTables: async () =>
      new Map(
        Object.entries(kinds).map(([name, columns]) => [name, new Map(Object.entries(columns))]),
      ),
    countRows: async (name) => rowsOf(name).length,
    async writeRows(table, batch) {
      onWrite(`write ${batch[0]![0]}`)
      await new Promise(setImmediate)
      written.push(table)
      rows.set(table.name, [...rowsOf(table.name), ...keep(batch)])
      onWrite(`written ${batch[0]![0]}`)
    },
    fingerprint: async ({ name }) => fingerprintOf(rowsOf(name)),
  }
}

function fingerprintOf(rows: readonly Row[]): { count: number; sum: string } {
  return { count: rows.length, sum: JSON.stringify(rows) }
}
