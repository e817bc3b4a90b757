import type { TestContext } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { createChanges } from './changes.ts'
import type { Span } from './cells.ts'
import { createNames, nameAttempts, type Names } from './names.ts'
import { openReader, type Row, type Tables } from './tables.ts'

/** Follows the rows of a database whose first content is restored again and again. */
export interface Watch {
  /** The tables have their first content again. */
  restart(): void
  /** What has changed since the last call, in lines. */
  changes(span: Span): Promise<string[]>
  /** Names what the service counts about an address. */
  typed(email: string): void
}

/** Names of ids that the rows do not tell apart. */
type Given = Readonly<Record<string, string>>

/** `schema` is ours on PostgreSQL. */
export async function watchRows(
  t: TestContext,
  database: DatabaseConfig,
  given: Given,
  schema?: string,
): Promise<Watch> {
  const reader = await openReader(database, schema)
  t.after(reader.close)
  const first = await reader.read()
  let { names, changes } = nameRowsOf(first, given)
  let before = first
  return {
    restart() {
      ;({ names, changes } = nameRowsOf(first, given))
      before = first
    },
    async changes(span) {
      const after = await reader.read()
      if (after === before) return []
      const lines = changes.between(before, after, span)
      before = after
      return lines
    },
    typed: (email) => nameAttempts(names, email),
  }
}

/** The names of the rows that a database has now. */
export async function namesIn(database: DatabaseConfig, given: Given): Promise<Names> {
  const reader = await openReader(database)
  const { names } = nameRowsOf(await reader.read(), given)
  await reader.close()
  return names
}

function nameRowsOf(tables: Tables, given: Given) {
  const names = createNames()
  for (const [name, id] of Object.entries(given)) names.give(id, name)
  const changes = createChanges(names)
  changes.between({}, sortedByAge(tables), { start: 0, end: 0 })
  return { names, changes }
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
