import pg from 'pg'
import {
  NotRestored,
  type PreparedRestore,
  type Restored,
  type RestorePlan,
} from '../../transfer/backup/backup.ts'
import { checkBackup } from '../../transfer/backup/files.ts'
import { type Database, openDatabase } from '../database.ts'
import { migrate } from '../migrate.ts'
import { ENDLESS } from '../patience.ts'
import { unusable } from '../refusals.ts'
import { carryOver } from './carry-over.ts'
import { readFacts } from './facts.ts'
import { settle } from './settle.ts'
import { runTool, ToolFailed } from './tools.ts'

/** The name of the database in a URL. */
const NAME = /^(postgres(?:ql)?:\/\/[^/?#]*\/)([^/?#]+)(.*)$/i
const MISSING_DATABASE = '3D000'
const IN_USE = '55006'
const NAME_BYTES_MAX = 63
const RESTORING = '_restoring_'

/**
 * Prepares to replace the database by a dump, in a database of its own beside it, and changes
 * nothing yet. Throws NotRestored or NotConfigured.
 */
export async function prepareRestore(url: string, from: string): Promise<PreparedRestore> {
  const madeAt = await checkBackup(from)
  const name = decodeURIComponent(NAME.exec(url)![2]!)
  const names = { name, fresh: `${name}${RESTORING}${process.pid}`, kept: keptName(name) }
  if (Buffer.byteLength(names.kept) > NAME_BYTES_MAX)
    throw new NotRestored(
      `cannot restore ${from}: the name ${names.kept}, for the replaced database, is too long for PostgreSQL`,
    )
  const maintenance = openDatabase(urlOf(url, 'postgres'), ENDLESS)
  const opened: Database[] = []
  const closeOpened = () => Promise.all(opened.splice(0).map((database) => database.close()))
  const close = async () => {
    await closeOpened()
    await drop(maintenance, names.fresh).catch(() => {})
    await maintenance.close()
  }
  const openOne = (of: string): Database => {
    const database = openDatabase(urlOf(url, of), ENDLESS)
    opened.push(database)
    return database
  }
  try {
    await runTool('pg_restore', ['--list', from])
    const present = await findPresent(openOne(name))
    await dropAbandoned(maintenance, name)
    await createLike(maintenance, name, names.fresh)
    await runTool(
      'pg_restore',
      ['--exit-on-error', '--no-owner', '--no-privileges', from],
      urlOf(url, names.fresh),
    )
    const fresh = openOne(names.fresh)
    const backup = await factsOf(fresh, from)
    await migrate(fresh)
    const plan: RestorePlan = {
      backup,
      present: present === null ? null : await present.lend(readFacts),
      unreadable: null,
      revoked: present === null ? 0 : await carryOver(present, fresh),
    }
    await settle(fresh, madeAt)

    const carryOverAgain = async () => {
      try {
        return await carryOver(openOne(names.kept), openOne(names.fresh))
      } finally {
        await closeOpened()
      }
    }
    const apply = async (): Promise<Restored> => {
      try {
        await closeOpened()
        if (present === null) {
          await rename(maintenance, names.fresh, name)
          return { ...plan, kept: null }
        }
        const meanwhile = await replace(maintenance, names, carryOverAgain)
        return { ...plan, revoked: plan.revoked + meanwhile, kept: names.kept }
      } catch (error) {
        throw sentenceFor(error, from)
      }
    }
    return { plan, apply, close }
  } catch (error) {
    await close()
    throw sentenceFor(error, from)
  }
}

/** No process serves until all is carried over, because no database has the name. */
async function replace(
  maintenance: Database,
  { name, fresh, kept }: Record<'name' | 'fresh' | 'kept', string>,
  carryOverAgain: () => Promise<number>,
): Promise<number> {
  await rename(maintenance, name, kept)
  try {
    const revoked = await carryOverAgain()
    await rename(maintenance, fresh, name)
    return revoked
  } catch (error) {
    await rename(maintenance, kept, name).catch(() => {
      throw new NotRestored(
        `the restore failed: ${(error as Error).message}. The database is now named ${kept}; rename it to ${name}`,
        { cause: error },
      )
    })
    throw error
  }
}

function keptName(name: string): string {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${name}_before_restore_${stamp}`
}

function urlOf(url: string, database: string): string {
  const [, before, , after] = NAME.exec(url)!
  return `${before}${encodeURIComponent(database)}${after}`
}

/** Null if there is none, or one without our tables. */
async function findPresent(database: Database): Promise<Database | null> {
  try {
    const [found] = await database.query<{ ledger: string | null }>(
      `SELECT to_regclass('schema_migrations') AS ledger`,
    )
    return found!.ledger === null ? null : database
  } catch (error) {
    if ((error as pg.DatabaseError).code === MISSING_DATABASE) return null
    throw error
  }
}

/** Creates a database with the locale of another one, if there is one. */
async function createLike(maintenance: Database, model: string, name: string): Promise<void> {
  const [like] = await maintenance.query<{ datcollate: string; datctype: string }>(
    'SELECT datcollate, datctype FROM pg_database WHERE datname = $1',
    [model],
  )
  const locale =
    like === undefined
      ? ''
      : `LC_COLLATE ${pg.escapeLiteral(like.datcollate)} LC_CTYPE ${pg.escapeLiteral(like.datctype)}`
  await maintenance.query(
    `CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE template0 ENCODING 'UTF8' ${locale}`,
  )
}

async function rename(maintenance: Database, from: string, to: string): Promise<void> {
  const [old, next] = [from, to].map((name) => pg.escapeIdentifier(name))
  try {
    await maintenance.query(`ALTER DATABASE ${old} RENAME TO ${next}`)
  } catch (error) {
    if ((error as pg.DatabaseError).code !== IN_USE) throw error
    throw new NotRestored(
      `the database ${from} is in use; stop the service on every machine, and all other programs that have it open, and try again`,
    )
  }
}

/** Drops what restores have left that were killed. One that still runs has its database open. */
async function dropAbandoned(maintenance: Database, name: string): Promise<void> {
  const found = await maintenance.query<{ datname: string }>(
    `SELECT datname FROM pg_database WHERE starts_with(datname, $1)
       AND NOT EXISTS (SELECT 1 FROM pg_stat_activity AS used WHERE used.datname = pg_database.datname)`,
    [`${name}${RESTORING}`],
  )
  for (const { datname } of found) await drop(maintenance, datname).catch(() => {})
}

async function drop(maintenance: Database, name: string): Promise<void> {
  await maintenance.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`)
}

async function factsOf(database: Database, from: string) {
  try {
    return await database.lend(readFacts)
  } catch (error) {
    throw new NotRestored(`cannot restore ${from}: it is no backup of this service`, {
      cause: error,
    })
  }
}

function sentenceFor(error: unknown, from: string): unknown {
  if (error instanceof ToolFailed)
    return new NotRestored(`cannot restore ${from}: ${error.message}`)
  return unusable(error) ?? error
}
