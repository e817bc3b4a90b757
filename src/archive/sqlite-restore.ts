import { existsSync, lchownSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../model/audit.ts'
import type { Revocations } from '../model/key-hash.ts'
import { MEGABYTE } from '../model/text.ts'
import { closeDatabase, openFile } from '../sqlite/database.ts'
import { NotConfigured } from '../model/faults.ts'
import { breaksRule, isDamage, isFull, isLocked, isNoDatabase, unusable } from '../sqlite/errors.ts'
import { createDatabaseFile, isRoot } from '../sqlite/file/create-file.ts'
import { takeServingLock } from '../sqlite/file/serving-lock.ts'
import { journalOf, readJournal } from '../sqlite/journal/journal.ts'
import { unite } from '../sqlite/journal/mirror.ts'
import { assertUpToDate, migrate } from '../sqlite/migrate.ts'
import { isNewer, tableNames } from '../sqlite/schema.ts'
import {
  assertFree,
  CLAIMS,
  entryOf,
  type Facts,
  NotBackedUp,
  NotRestored,
  type PreparedRestore,
  type Restored,
  TABLES,
} from './archive.ts'
import { findProblems, readFacts } from './facts.ts'
import { dropParts, findAttached, ownTriggers } from './foreign.ts'
import { keptBeside } from './leftovers.ts'
import { type OpenArchive, STOP_WAIT_MS } from './open.ts'
import { countRevoked, hashesIn } from './revocations.ts'
import { assertRules, findMissing, findUnreadable } from './rules/judge.ts'
import { backUpSqlite, CLEARED } from './sqlite-backup.ts'
import {
  assertRestored,
  attachArchive,
  changedRows,
  deleteRows,
  FREED,
  freeRows,
  missingRows,
  planRows,
  writeRows,
} from './unite.ts'

/**
 * Prepares to make the tables of a database file equal to those of an archive, and changes nothing
 * yet. From here on no process can serve the file. Closes the archive, too. `onFault` gets an error
 * about damaged lines of the journal. Throws NotRestored, NotConfigured or AlreadyServed.
 */
export async function prepareSqliteRestore(
  path: string,
  archive: OpenArchive,
  onFault: (fault: Error) => void,
): Promise<PreparedRestore> {
  let isRestored = false
  const opened = [archive.close]
  const close = async () => {
    for (const each of opened.splice(0).toReversed()) each()
  }
  try {
    assertRules(archive)
    if (existsSync(path) && realpathSync(path) === realpathSync(archive.path))
      throw new NotRestored(`cannot restore ${archive.path}: it is the database itself`)
    const isNew = createDatabaseFile(path)
    if (!isNew) assertPresent(path)
    const lock = await takeServingLock(path, STOP_WAIT_MS)
    opened.push(() => lock.release())
    if (isNew) opened.push(() => isRestored || removeFiles(path))
    const database = openFile(path, false)
    opened.push(() => closeDatabase(database))
    const present = readPresent(database, path)
    assertRoom(path, archive)
    attachArchive(database, archive)
    const readLists = (onUnread: typeof onFault) => [
      archive.revocations,
      readJournal(journalOf(path), onUnread),
    ]
    const lists = [
      ...readLists(onFault).map((list) => list.keys()),
      present === null ? [] : hashesIn(database),
    ]
    const plan = { archive: archive.facts, present, revoked: await countRevoked(archive, lists) }

    const apply = async (actor: Actor): Promise<Restored> => {
      if (present === null) migrate(database)
      // Rows change in an order of their own. Other commands wait from here on, so that the
      // archive of what is replaced lacks nothing.
      database.exec('PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE')
      const kept = present === null ? null : await keepReplaced(path)
      const revoked = commitRows(
        database,
        readLists(ignoreNamed),
        entryOf(archive.path, actor),
        kept,
      )
      isRestored = true
      const fault = await unite(database, path, ignoreNamed).then(
        () => null,
        (error: Error) => error,
      )
      // The archive lacks the claims of the last second, which the next process waits out.
      lock.release('')
      return { ...plan, revoked, kept, fault }
    }
    return { plan, apply: (actor) => withSentence(path, () => apply(actor)), close }
  } catch (error) {
    await close()
    throw sentenceFor(error, path)
  }
}

/** The preparation has named the damaged lines. */
const ignoreNamed = (): void => {}

/** Returns how many keys that are active in the archive stay revoked. */
function commitRows(
  database: DatabaseSync,
  lists: readonly Revocations[],
  entry: ReturnType<typeof entryOf>,
  kept: string | null,
): number {
  try {
    const revoked = replaceRows(database, lists)
    database
      .prepare(
        `INSERT INTO main.audit_log (id, occurred_at, action, subject, address)
        VALUES ($id, $occurred_at, $action, $subject, $address)`,
      )
      .run(entry)
    database.exec('COMMIT')
    return revoked
  } catch (error) {
    if (kept !== null) rmSync(kept, { force: true })
    throw error
  }
}

async function withSentence<T>(path: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (error) {
    throw sentenceFor(error, path)
  }
}

/**
 * Makes the tables of a file equal to those of the attached archive, apart from what a restore
 * unites. The operator's own tables, columns and indexes stay. Returns how many of the archive's
 * active keys stay revoked. Needs an open transaction.
 */
function replaceRows(database: DatabaseSync, lists: readonly Revocations[]): number {
  const revoked = planRows(database, lists)
  const makeTriggers = dropParts(database, ownTriggers())
  for (const table of [...CLEARED, ...CLAIMS.map(({ name }) => name)])
    database.exec(`DELETE FROM main.${table}`)
  for (const table of TABLES.toReversed())
    database.exec(deleteRows(table, `(${missingRows(table)})`))
  for (const table of TABLES) {
    const changed = `(${changedRows(table)})`
    const freed = FREED[table.name]
    if (freed !== undefined) database.exec(freeRows(table, freed, changed))
    database.exec(writeRows(table, Object.keys(table.columns), changed))
  }
  database.exec(`
    INSERT INTO main.older_claims
      SELECT serial, claimed_at FROM main.api_keys JOIN temp.last USING (key_hash)`)
  makeTriggers()
  for (const table of TABLES) assertRestored(database, table)
  return revoked
}

/** A file that this program must not change gets no lock beside it. */
function assertPresent(path: string): void {
  const database = openFile(path, false)
  try {
    if (tableNames(database).length > 0) assertSchema(database, path)
  } finally {
    closeDatabase(database)
  }
}

/** Throws unless the schema is this program's: it would set back the triggers of a newer one. */
function assertSchema(database: DatabaseSync, path: string): void {
  assertUpToDate(database, path)
  if (isNewer(database))
    throw new NotRestored(
      `cannot restore into ${path}: it has the schema of a newer server-listing. Restore into a new database`,
    )
}

/** What the file contains; null if it has no tables yet. */
function readPresent(database: DatabaseSync, path: string): Facts | null {
  if (tableNames(database).length === 0) return null
  assertSchema(database, path)
  const assertReadable = (complaint: string | null) => {
    if (complaint !== null) throw new NotRestored(`cannot restore into ${path}: ${complaint}`)
  }
  assertReadable(findUnreadable(database))
  assertReadable(findMissing(database))
  if (findProblems(database) !== null) throw new NotRestored(damaged(path))
  assertFree(findAttached(database), `cannot restore into ${path}: `)
  return readFacts(database)
}

/** The write-ahead log holds the whole archive, beside the archive of what is replaced. */
function assertRoom(path: string, archive: OpenArchive): void {
  const folder = dirname(realpathSync(path))
  const { bavail, bsize } = statfsSync(folder)
  const needed = statSync(archive.database.location()!).size + statSync(path).size
  if (bavail * bsize >= needed) return
  throw new NotRestored(
    `cannot restore into ${path}: it needs ${inMegabytes(needed)} in ${folder}, for the log of the ` +
      `change and the archive of what it replaces, and ${inMegabytes(bavail * bsize)} are free`,
  )
}

const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / MEGABYTE)} MB`

async function keepReplaced(path: string): Promise<string> {
  const kept = keptBeside(realpathSync(path))
  await backUpSqlite(path, kept)
  // Like the database, it belongs to the user of the service.
  const { uid, gid } = statSync(path)
  if (isRoot()) lchownSync(kept, uid, gid)
  return kept
}

/** The serving lock stays, because another process may wait for it. */
function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
}

const damaged = (path: string): string =>
  `cannot restore into ${path}: the file there is damaged, or no SQLite database. Move it away with ` +
  'its -wal and -shm, leave its -revoked where it is, and try again'

function sentenceFor(error: unknown, path: string): unknown {
  const cause = error instanceof NotConfigured ? error.cause : error
  if (isDamage(cause) || isNoDatabase(cause))
    return new NotRestored(damaged(path), { cause: error })
  if (error instanceof NotBackedUp)
    return new NotRestored(`nothing was restored: ${error.message}`, { cause: error })
  if (isFull(error))
    return new NotRestored(`nothing was restored: the disk of ${path} is full`, { cause: error })
  if (breaksRule(error))
    return new NotRestored(
      `nothing was restored: ${path} refuses a row of the archive: ${(error as Error).message}`,
      { cause: error },
    )
  if (isLocked(error))
    return new NotRestored(`nothing was restored: another command is writing to ${path}`, {
      cause: error,
    })
  return unusable(path, error) ?? error
}
