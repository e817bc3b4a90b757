import type { TestContext } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { type Changes, createChanges } from './changes.ts'
import type { Span } from './cells.ts'
import { createNames, nameAttempts } from './names.ts'
import { openReader, type Row, type Tables } from './tables.ts'

/** Follows the rows of a database whose first content is restored again and again. */
export interface Watch {
  /** The tables have their first content again. */
  restart(): void
  /** What has changed since the last call, in lines. */
  changes(span: Span): Promise<string[]>
  /** Names what the service counts about an address. */
  typed(email: string): void
  /** The id with this name, or undefined. */
  idOf(name: string): string | undefined
}

/** `given` has the names of ids that the rows do not tell apart. `schema` is ours on PostgreSQL. */
export async function watchRows(
  t: TestContext,
  database: DatabaseConfig,
  given: Readonly<Record<string, string>>,
  schema?: string,
): Promise<Watch> {
  const reader = await openReader(database, schema)
  t.after(reader.close)
  const first = sortedByAge(await reader.read())
  let names = createNames()
  let changes: Changes
  let before: Tables

  function restart(): void {
    names = createNames()
    for (const [name, id] of Object.entries(given)) names.give(id, name)
    changes = createChanges(names)
    changes.between({}, first, { start: 0, end: 0 })
    before = first
  }

  restart()
  return {
    restart,
    async changes(span) {
      const after = await reader.read()
      if (after === before) return []
      const lines = changes.between(before, after, span)
      before = after
      return lines
    },
    typed: (email) => nameAttempts(names, email),
    idOf: (name) => names.values.get(name),
  }
}

/** So that random ids do not decide the numbers in names. */
function sortedByAge(tables: Tables): Tables {
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.toSorted((one, other) => ageOf(one) - ageOf(other)),
    ]),
  )
}

function ageOf(row: Row): number {
  return Number(row.started_at ?? row.created_at ?? 0)
}
