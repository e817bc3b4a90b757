import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import type { Actor } from '../model/audit.ts'
import { formatInstant } from '../model/instant.ts'
import { type Database, openDatabase } from '../postgres/database.ts'
import { TYPES } from '../postgres/management-connection.ts'
import { assertUpToDate, countApplied, migrate as migratePostgres } from '../postgres/migrate.ts'
import { ENDLESS } from '../postgres/patience.ts'
import { unreachableServer, unusable } from '../postgres/refusals.ts'
import { migrate } from '../sqlite/migrate.ts'
import {
  assertFree,
  entryOf,
  type Facts,
  NotBackedUp,
  NotRestored,
  type PreparedRestore,
  type Restored,
  TABLES,
} from './archive.ts'
import { FACTS, readFacts } from './facts.ts'
import { keptBeside } from './leftovers.ts'
import type { OpenArchive } from './open.ts'
import { fillFromPostgres, rowsOf, withoutTimeouts } from './postgres-backup.ts'
import { compareRows, mergeRows, renewCaches } from './postgres-merge.ts'
import { disableTriggers, findAttached, findWriters, lockTables } from './postgres-tables.ts'
import { countRevoked } from './revocations.ts'
import { assertRules, BrokenArchive } from './rules/judge.ts'
import { attachArchive, planRows } from './unite.ts'
import { writeArchive } from './write.ts'

/** The advisory lock of restores. No other known program uses this number. */
const LOCK = 7_318_349_123
/** The longest wait for another session's lock on a table that a restore only reads or renews. */
const LOCK_MS = 60_000

/**
 * Prepares to make a database equal to an archive, also beside services, and changes nothing yet.
 * Closes the archive, too. Throws NotRestored or NotConfigured.
 */
export async function preparePostgresRestore(
  url: string,
  archive: OpenArchive,
): Promise<PreparedRestore> {
  const database = openDatabase(url, ENDLESS)
  const close = async () => {
    archive.close()
    await database.close()
  }
  const listed = archive.revocations.keys()
  try {
    assertRules(archive)
    const isNew = (await countApplied(database)) === 0
    if (!isNew) {
      await assertUpToDate(database)
      assertFree(await database.lend(findAttached))
    }
    const plan = isNew
      ? { archive: archive.facts, present: null, revoked: await countRevoked(archive, [listed]) }
      : await database.transact(async (client) => {
          await withoutTimeouts(client)
          const { rows } = await client.query<Facts>({ text: FACTS, types: TYPES })
          const revoked = await countRevoked(archive, [listed, hashesIn(client)])
          return { archive: archive.facts, present: rows[0]!, revoked }
        })
    const apply = async (actor: Actor): Promise<Restored> => {
      try {
        const hadTables = (await countApplied(database)) > 0
        if (!hadTables) await migratePostgres(database)
        return await replace(database, archive, hadTables, actor)
      } catch (error) {
        throw sentenceFor(error, archive.path)
      }
    }
    return { plan, apply, close }
  } catch (error) {
    await close()
    throw sentenceFor(error, archive.path)
  }
}

async function* hashesIn(client: pg.ClientBase): AsyncGenerator<string> {
  const select = `SELECT encode(key_hash, 'hex') FROM revoked_hashes`
  for await (const rows of rowsOf(client, select)) for (const [hash] of rows) yield String(hash)
}

async function replace(
  database: Database,
  archive: OpenArchive,
  hadTables: boolean,
  actor: Actor,
): Promise<Restored> {
  let isComplete = false
  let kept: string | null = null
  let planned: DatabaseSync | undefined
  try {
    return await database.transact(async (client) => {
      await begin(client)
      if (!(await lockTables(client))) throw new NotRestored(await complaintAboutWriters(client))
      await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
      assertFree(await findAttached(client))
      // Under the lock: the archive has exactly what is replaced.
      if (hadTables) kept = await keepReplaced(client, archive.path)
      planned = openPresent(kept)
      attachArchive(planned, archive)
      planned.exec('BEGIN')
      const present = hadTables ? readFacts(planned) : null
      const revoked = planRows(planned, [archive.revocations])
      const enableTriggers = await disableTriggers(client)
      await mergeRows(client, planned)
      await compareRows(client, planned)
      await writeEntry(client, archive.path, actor)
      await enableTriggers()
      // Services ask at once, and PostgreSQL plans by what it knew of the rows before.
      await client.query(`ANALYZE ${TABLES.map(({ name }) => name).join(', ')}`)
      await renewCaches(client)
      isComplete = true
      return { archive: archive.facts, present, revoked, kept, fault: null }
    })
  } catch (error) {
    if (isComplete) throw unsure(error, archive.path, kept)
    if (kept !== null) rmSync(kept, { force: true })
    throw error
  } finally {
    planned?.close()
  }
}

async function writeEntry(client: pg.ClientBase, path: string, actor: Actor): Promise<void> {
  const { id, occurred_at, action, subject, address } = entryOf(path, actor)
  await client.query(
    `INSERT INTO audit_log (id, occurred_at, action, subject, address)
    VALUES ($1, $2::timestamptz, $3, $4, $5)`,
    [id, formatInstant(occurred_at), action, subject, address],
  )
}

/** The present rows as SQLite has them. */
function openPresent(kept: string | null): DatabaseSync {
  if (kept !== null) return new DatabaseSync(kept, { readOnly: true })
  const empty = new DatabaseSync(':memory:')
  migrate(empty)
  return empty
}

async function begin(client: pg.ClientBase): Promise<void> {
  await withoutTimeouts(client)
  await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
  const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1) AS is_alone', [LOCK])
  if (!rows[0].is_alone)
    throw new NotRestored('another restore into this database is under way; wait for its end')
}

/** Beside the archive. The database may be on another machine. */
async function keepReplaced(client: pg.ClientBase, path: string): Promise<string> {
  const kept = keptBeside(path)
  try {
    await writeArchive(kept, (partial) => fillFromPostgres(client, partial))
  } catch (error) {
    if (!(error instanceof NotBackedUp)) throw error
    throw new NotRestored(
      `what it replaces must be kept beside it first, but I ${error.message}. Copy the archive to a ` +
        'folder with room where this user may write, and restore the copy',
      { cause: error },
    )
  }
  return kept
}

async function complaintAboutWriters(client: pg.ClientBase): Promise<string> {
  const pids = await findWriters(client)
  const which = pids.length === 0 ? '' : ` (${pids.join(', ')} in pg_stat_activity)`
  return `other sessions${which} keep locks on its tables; end them or wait, and try again`
}

/** The connection broke at the commit. */
class Unsure extends NotRestored {}

function unsure(error: unknown, path: string, kept: string | null): Unsure {
  const replaced = kept === null ? '' : `. What it replaces is ${kept}`
  return new Unsure(
    `whether the restore of ${path} was committed is not known: ${reasonOf(error)}. ` +
      `Run the same command again${replaced}`,
    { cause: error },
  )
}

function sentenceFor(error: unknown, path: string): Error {
  if (error instanceof Unsure || error instanceof BrokenArchive) return error
  const lasting = unusable(error) ?? unreachableServer(error)
  if (lasting !== null) return lasting
  return new NotRestored(`cannot restore ${path}: ${reasonOf(error)}`, { cause: error })
}

function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  // After failures on several addresses there is only a code.
  return message || (code ?? String(error))
}
