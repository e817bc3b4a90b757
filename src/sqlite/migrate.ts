import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { NotConfigured } from '../listing/faults.ts'
import { presentInstant } from '../listing/instant.ts'
import { transact } from './database.ts'

export interface Migration {
  number: number
  name: string
  sql: string
  /** The number of the newest migration that a program must know to work with the schema after this one. */
  programMin: number
}

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/
const PROGRAM_MIN = /^-- oldest compatible program: (\d+)\n/

/** The migrations of this program, in order. */
export function readMigrations(folder = new URL('./migrations/', import.meta.url)): Migration[] {
  const names = readdirSync(folder).filter((name) => FILE_NAME.test(name))
  return names.toSorted().map((name, index) => {
    const sql = readFileSync(new URL(name, folder), 'utf8')
    const number = Number(FILE_NAME.exec(name)?.[1])
    const programMin = Number(PROGRAM_MIN.exec(sql)?.[1])
    if (number !== index + 1) throw new Error(`migrations are numbered without gaps: ${name}`)
    if (!(programMin >= 1 && programMin <= number))
      throw new Error(
        `${name} must begin with "-- oldest compatible program: N", N from 1 to ${number}`,
      )
    return { number, name, sql, programMin }
  })
}

/**
 * Brings the schema to this program's newest migration and returns the names of those that were applied. Each file is
 * one transaction together with its row in the ledger, so a run that was interrupted anywhere is completed by the
 * next; the write lock makes two runs at once take turns. A schema that this program cannot work with is left alone
 * and thrown as NotConfigured.
 */
export function migrate(database: DatabaseSync, migrations = readMigrations()): string[] {
  const applied: string[] = []
  while (transact(database, () => applyNext(database, migrations, applied))) {}
  return applied
}

/** Applies the first migration that the ledger lacks; false if there is none. */
function applyNext(
  database: DatabaseSync,
  migrations: readonly Migration[],
  applied: string[],
): boolean {
  const present = readLedger(database, migrations.length)
  const next = migrations[present]
  if (next === undefined) return false
  if (present === 0) {
    database.exec(`
      CREATE TABLE schema_migrations (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        program_min INTEGER NOT NULL,
        applied_at INTEGER NOT NULL
      ) STRICT
    `)
  }
  database.exec(next.sql)
  database
    .prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)')
    .run(next.number, next.name, next.programMin, presentInstant())
  applied.push(next.name)
  return true
}

/** How many of this program's migrations the database has. */
function readLedger(database: DatabaseSync, known: number): number {
  const tables = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
  if (tables.length === 0) return 0
  if (!tables.some((table) => table.name === 'schema_migrations'))
    throw new NotConfigured('the database belongs to another program: it has tables, but not ours')

  const ledger = database
    .prepare(`SELECT max(number) AS number, max(program_min) AS program_min FROM schema_migrations`)
    .get()
  const programMin = Number(ledger?.program_min)
  if (programMin > known)
    throw new NotConfigured(
      `the database asks for a newer server-listing: its schema needs migration ${programMin}, this program knows ${known}`,
    )
  return Number(ledger?.number)
}
