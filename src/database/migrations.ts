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

/** What `schema_migrations` says. */
export interface Ledger {
  /** The number of the newest migration. */
  number: number
  /** The name of the first one. */
  first: string
  program_min: number
}

/**
 * Throws NotConfigured if a program with these migrations can't work with the schema: a newer
 * program made it, or one from before the first release, whose migrations are not part of ours.
 */
export function assertKnown(ledger: Ledger, migrations: readonly Migration[]): void {
  if (ledger.first !== migrations[0]?.name)
    throw new NotConfigured(
      'the database has the tables of a version before 0.1.0, which this program cannot read: ' +
        'write them to a file with that version (`server-listing export`), load the file into a ' +
        'new database with 0.1.0 (`server-listing apply`), and give this program that database',
    )
  if (ledger.program_min > migrations.length)
    throw new NotConfigured(
      `the database needs a newer server-listing: its schema needs migration ${ledger.program_min}, this program knows ${migrations.length}`,
    )
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
          'migrations. Make a backup, then update it with `server-listing migrate`',
  )
}
