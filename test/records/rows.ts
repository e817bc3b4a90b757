import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { createChanges } from '../rows/changes.ts'
import type { Names } from '../rows/names.ts'
import { openReader } from '../rows/tables.ts'

/** Says which rows an input changes, in the words of rows/record.txt. */
export interface Watch {
  /** Does the work. Returns its result, and a line for each row that it changed. */
  during<T>(work: () => Promise<T>): Promise<[result: T, lines: string[]]>
  /** Watches a copy of the database. Its rows have the names that they have here. */
  ofCopy(copy: DatabaseConfig): Promise<Watch>
  execute(sql: string): Promise<void>
  close(): Promise<void>
}

export async function watchRows(database: DatabaseConfig, names: Names): Promise<Watch> {
  const reader = await openReader(database)
  const changes = createChanges(names)
  let tables = await reader.read()
  // A copy has earlier instants.
  changes.between(tables, tables, { start: 0, end: 0 })
  return {
    async during(work) {
      const start = presentInstant()
      const result = await work()
      const before = tables
      tables = await reader.read()
      const lines = changes.between(before, tables, { start, end: presentInstant() })
      return [result, lines.map((line) => `  ${line}`)]
    },
    ofCopy: (copy) => watchRows(copy, names.copy()),
    execute: reader.execute,
    close: reader.close,
  }
}
