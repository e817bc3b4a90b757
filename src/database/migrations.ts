import { readdirSync, readFileSync } from 'node:fs'
import { NotConfigured } from '../model/faults.ts'

/** One step of a schema: a numbered file of SQL. */
export interface Migration {
  number: number
  name: string
  sql: string
  /**
   * The newest migration that a program must know in order to work with the schema after this one.
   */
  programMin: number
}

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/
const PROGRAM_MIN = /^-- oldest compatible program: (\d+)\n/

/** The migrations in an engine's folder, in order. */
export function readMigrations(folder: URL): Migration[] {
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

/** Reads the ledger. It may have become a view without an end. */
export const LEDGER = 'SELECT number, name, program_min FROM schema_migrations LIMIT 1000'

/** A row of the ledger, unless another program has changed the table. */
export interface LedgerRow {
  number: number
  name: string
  program_min: number
}

/**
 * Counts the migrations of a ledger. Throws NotConfigured if a program with these migrations can't
 * work with the schema: a newer program made it, or one from before the first release, whose
 * migrations are not part of ours, or another program has changed the ledger.
 */
export function countMigrations(
  ledger: readonly LedgerRow[],
  migrations: readonly Migration[],
): number {
  const rows = ledger.toSorted((a, b) => a.number - b.number)
  if (rows[0]?.number === 1 && rows[0].name !== migrations[0]?.name)
    throw new NotConfigured(
      'the database has the tables of a version before 0.1.0, which this program cannot read: ' +
        'write them to a file with that version (`server-listing export`), load the file into a ' +
        'new database with 0.1.0 (`server-listing apply`), and give this program that database',
    )
  const programMin = Math.max(...rows.map((row) => row.program_min))
  if (programMin > migrations.length)
    throw new NotConfigured(
      `the database needs a newer server-listing: its schema needs migration ${programMin}, this program knows ${migrations.length}`,
    )
  const isWhole = rows.every(
    ({ number, name }, index) => number === index + 1 && name === (migrations[index]?.name ?? name),
  )
  if (!isWhole || !(programMin >= 1))
    throw new NotConfigured(
      'the table schema_migrations of the database was changed; restore a backup into a new database',
    )
  return rows.length
}

/**
 * The error of a migration that was rolled back. NotConfigured if the schema or a row is the cause:
 * it would fail again.
 */
export function failedMigration({ name }: Migration, error: Error, isLasting: boolean): Error {
  error.message = `migration ${name} failed and was rolled back: ${error.message}. Mend that, and try again`
  return isLasting ? new NotConfigured(error.message, { cause: error }) : error
}

/**
 * The error of a command that finds a schema of `present` of this program's `known` migrations.
 * `database` names the database in the message.
 */
export function outdatedSchema(database: string, present: number, known: number): NotConfigured {
  return new NotConfigured(
    present === 0
      ? `${database} has no tables yet; \`server-listing migrate\` creates them`
      : `the schema of ${database} is older than this program: it has ${present} of ${known} ` +
          'migrations. Make a backup with the earlier version, then update it with `server-listing migrate`',
  )
}
