import { presentInstant } from '../../src/model/instant.ts'
import { createChanges } from '../rows/changes.ts'
import type { Names } from '../rows/names.ts'
import type { Reader, Tables } from '../rows/tables.ts'

/** Says which rows an input changes, in the words of rows/record.txt. */
export interface Watch {
  /** Does the work. Returns its result, and a line for each row that it changed. */
  during<T>(work: () => Promise<T>): Promise<[result: T, lines: string[]]>
  /** Watches a copy of the database. Its rows have the names that they have here. */
  ofCopy(reader: Reader): Promise<Watch>
  execute(sql: string): Promise<void>
}

export function watchRows(reader: Reader, names: Names, present: Tables = {}): Watch {
  const changes = createChanges(names)
  let tables = present
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
    ofCopy: async (copy) => watchRows(copy, names.copy(), await copy.read()),
    execute: reader.execute,
  }
}

/** Watches no rows, which takes less time. */
export function watchNothing(reader: Reader): Watch {
  const watch: Watch = {
    during: async (work) => [await work(), []],
    ofCopy: async () => watch,
    execute: reader.execute,
  }
  return watch
}
