import { accessSync, constants, existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { complaintAboutError } from '../model/input.ts'
import type { Revocations } from '../model/key-hash.ts'
import type { Migration } from '../database/migrations.ts'
import { openToRead } from '../sqlite/database.ts'
import { isDamage, isReadOnly, unusableReason } from '../sqlite/errors.ts'
import { AlreadyServed, takeServingLock } from '../sqlite/file/serving-lock.ts'
import { journalOf, readJournal } from '../sqlite/journal/journal.ts'
import { migrate } from '../sqlite/migrate.ts'
import { complaintAboutDatabase, MIGRATIONS, readLedger } from '../sqlite/schema.ts'
import { type ArchiveFacts, NotRestored } from './archive.ts'
import { findProblems, readArchiveFacts } from './facts.ts'
import { dropParts, readSchema, type SchemaPart, withOwnSchema } from './foreign.ts'
import { makeTemporaryFolder } from './leftovers.ts'
import { findMissing, findUnreadable } from './rules/judge.ts'

/** An archive that was checked and can be read. */
export interface OpenArchive {
  /** As the operator named it. */
  path: string
  /** Read-only, in the present schema, in one transaction: what it reads does not change. */
  database: DatabaseSync
  facts: ArchiveFacts
  /** Whether it may have what this program does not know, and so can't restore. */
  isNewer: boolean
  /** What the journal beside the file lists, by the key's hash in hexadecimal. */
  revocations: Revocations
  close(): void
}

/**
 * Opens an archive, or the file of a stopped service, for restoring. No process can serve that file
 * until it is closed. Throws NotRestored if it is no archive, or one that needs a newer program.
 */
export async function openArchive(
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<OpenArchive> {
  const opened: (() => void)[] = []
  const close = () => {
    for (const each of opened.splice(0).toReversed()) each()
  }
  try {
    assertFile(path)
    assertOurs(path, migrations)
    await holdLock(path, opened)
    const { database, isNewer } = await openCurrent(path, migrations, opened)
    const missing = findMissing(database)
    if (missing !== null) throw new NotRestored(missing)
    const revocations = readJournal(journalOf(path), (fault) => {
      throw fault
    })
    return { path, database, facts: readArchiveFacts(database), isNewer, revocations, close }
  } catch (error) {
    close()
    throw sentenceFor(error, path)
  }
}

function assertFile(path: string): void {
  const complaint = complaintAboutFile(path)
  if (complaint !== null) throw new NotRestored(`it ${complaint}`)
}

/** Null if SQLite may open the file. */
function complaintAboutFile(path: string): string | null {
  if (path === '-') return NO_FILE
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    return complaintAboutError(error)
  }
  const stats = statSync(path)
  if (stats.isDirectory()) return complaintAboutError({ code: 'EISDIR' })
  if (!stats.isFile()) return NO_FILE
  return stats.size === 0 ? 'is empty' : null
}

/** SQLite reads no pipe, and a copy in a temporary folder has password hashes. */
const NO_FILE = 'is no regular file. Save the archive to a file first, and name that'

/** What is not ours gets no files beside it, and its lock stays as it is. */
function assertOurs(path: string, migrations: readonly Migration[]): void {
  const database = openToRead(path)
  try {
    // Before anything is read from tables: a view may have no end.
    const complaint = complaintAboutDatabase(database) ?? findUnreadable(database)
    if (complaint !== null) throw new NotRestored(complaint)
    if (readLedger(database, migrations) === 0)
      throw new NotRestored('it has no tables, and is no archive')
  } finally {
    database.close()
  }
}

/** A service that stops may hold the lock for a moment. */
export const STOP_WAIT_MS = 1_000

/** Only the file of a service has a lock beside it. */
async function holdLock(path: string, opened: (() => void)[]): Promise<void> {
  if (!existsSync(`${realpathSync(path)}-serving`)) return
  try {
    const lock = await takeServingLock(path, STOP_WAIT_MS)
    opened.push(() => lock.release())
  } catch (error) {
    if (!(error instanceof AlreadyServed)) throw error
    throw new NotRestored(`${error.message}; make an archive of it with \`server-listing backup\``)
  }
}

/** The database in a schema that this program can read: a copy of one that is older. */
async function openCurrent(
  path: string,
  migrations: readonly Migration[],
  opened: (() => void)[],
): Promise<Pick<OpenArchive, 'database' | 'isNewer'>> {
  const database = openReadOnly(path, opened)
  const problems = findProblems(database)
  if (problems !== null) throw new NotRestored(`it is damaged: ${problems}; use another archive`)
  const present = readLedger(database, migrations)
  if (present >= migrations.length) return { database, isNewer: present > migrations.length }
  const folder = makeTemporaryFolder()
  opened.push(() => rmSync(folder, { recursive: true, force: true }))
  const copy = join(folder, 'archive')
  await backup(database, copy, { rate: ALL_PAGES })
  migrateFile(copy, migrations, present)
  return { database: openReadOnly(copy, opened), isNewer: false }
}

const ALL_PAGES = 2 ** 31 - 1

/** A file in WAL mode needs files beside it, which a connection that only reads makes, too. */
function openReadOnly(path: string, opened: (() => void)[]): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true })
  opened.push(() => database.close())
  // The transaction begins with the first read. SQLite ends it when the connection closes.
  database.exec('PRAGMA trusted_schema = OFF; BEGIN; SELECT count(*) FROM sqlite_schema')
  return database
}

function migrateFile(path: string, migrations: readonly Migration[], present: number): void {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF')
    const own = withOwnSchema(readSchema, migrations.slice(0, present)).map(({ sql }) => sql)
    const isForeign = ({ type, sql }: SchemaPart) => type === 'trigger' && !own.includes(sql)
    dropParts(database, readSchema(database).filter(isForeign))
    migrate(database, migrations)
  } finally {
    database.close()
  }
}

function sentenceFor(error: unknown, path: string): unknown {
  return new NotRestored(`cannot restore ${path}: ${reasonFor(error as Error)}`, { cause: error })
}

function reasonFor(error: Error): string {
  if (isDamage(error)) return 'it is damaged; use another archive'
  if (isReadOnly(error))
    return (
      'it is no archive but the file of a service, and this user may not write to its folder. ' +
      'Copy it with the files whose names begin with its name, and restore the copy'
    )
  return unusableReason(error) ?? error.message
}
