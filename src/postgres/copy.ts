import pg from 'pg'
import {
  type Column,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  copyTables,
  type Kind,
  NotCopied,
  type OnProgress,
} from '../transfer/copy.ts'
import { framed } from '../transfer/framed.ts'
import { openDatabase } from './database.ts'
import { ENDLESS } from './patience.ts'
import { migrate } from './migrate.ts'
import { unusable } from './refusals.ts'

/** The advisory lock of copies. No other known program uses this number. */
const LOCK = 7_318_349_123
/** How long an interrupted copy may hold the lock. */
const LOCK_WAIT = '10s'
const LOCK_NOT_AVAILABLE = '55P03'
/** The longest pause in the transaction, while the source is read. */
const IDLE = '10min'

const KINDS: Readonly<Record<string, Kind>> = {
  text: 'text',
  varchar: 'text',
  uuid: 'uuid',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  bool: 'boolean',
  timestamptz: 'instant',
  bytea: 'bytes',
}

/**
 * Migrates an empty database and copies everything into it in one transaction: an interruption
 * leaves nothing. A service that runs on the database sees all rows at once.
 */
export async function copyIntoPostgres(
  source: CopySource,
  url: string,
  onProgress: OnProgress,
): Promise<CopiedTable[]> {
  const database = openDatabase(url, ENDLESS)
  let isComplete = false
  try {
    await migrate(database)
    return await database.transact(async (client) => {
      await begin(client)
      const copied = await copyTables(source, targetOn(client), onProgress)
      // Analyzed now, because a running service may be asked at once.
      for (const { name } of copied) await client.query(`ANALYZE ${pg.escapeIdentifier(name)}`)
      isComplete = true
      return copied
    })
  } catch (error) {
    throw isComplete ? unsure(error) : (unusable(error) ?? notCopied(error))
  } finally {
    await database.close()
  }
}

async function begin(client: pg.ClientBase): Promise<void> {
  await client.query(`
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = '${IDLE}';
    SET LOCAL lock_timeout = '${LOCK_WAIT}'
  `)
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    throw new NotCopied('nothing was copied: another copy into this database is under way', {
      cause: error,
    })
  }
  await client.query('SET LOCAL lock_timeout = 0')
}

/** For example, a server that can't be reached or a lost connection. */
function notCopied(error: unknown): NotCopied {
  if (error instanceof NotCopied) return error
  return new NotCopied(`nothing was copied: ${reasonOf(error)}`, { cause: error })
}

function unsure(error: unknown): NotCopied {
  return new NotCopied(
    `everything was copied and compared, but whether it was committed is not known (${reasonOf(error)}): either all of it was or nothing, and the same command again copies it or refuses`,
    { cause: error },
  )
}

function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  // After failures on several addresses there is only a code.
  return message || (code ?? String(error))
}

function targetOn(client: pg.ClientBase): CopyTarget {
  return {
    async describeTables() {
      const { rows } = await client.query<{ table: string; column: string; type: string }>(`
        SELECT relname AS table, attname AS column, typname AS type
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid JOIN pg_type ON pg_type.oid = atttypid
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
          AND attnum > 0 AND NOT attisdropped
      `)
      const tables = new Map<string, Map<string, Kind | null>>()
      for (const { table, column, type } of rows) {
        const columns = tables.get(table) ?? new Map<string, Kind | null>()
        tables.set(table, columns.set(column, KINDS[type] ?? null))
      }
      return tables
    },

    async countRows(name) {
      const { rows } = await client.query(`SELECT count(*) FROM ${pg.escapeIdentifier(name)}`)
      return Number(rows[0].count)
    },

    async writeRows({ name, columns }, rows) {
      const names = columns.map((column) => pg.escapeIdentifier(column.name)).join(', ')
      const given = columns.map(({ kind }, index) => `$${index + 1}::${PARAMETERS[kind]}[]`)
      try {
        await client.query(
          `INSERT INTO ${pg.escapeIdentifier(name)} (${names})
           SELECT ${columns.map(columnFrom).join(', ')} FROM unnest(${given.join(', ')}) AS given (${names})`,
          columns.map((_, index) => rows.map((row) => row[index])),
        )
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error
        throw new NotCopied(
          `nothing was copied: rows of the table ${name} could not be written: ${error.message}`,
          { cause: error },
        )
      }
    },

    async fingerprint({ name, columns }) {
      const row = columns.map((column) => framed(column, textOf(column))).join(' || ')
      const digest = `encode(sha256(convert_to(${row}, 'UTF8')), 'hex')`
      const { rows } = await client.query(
        `SELECT count(*), coalesce(sum(('x' || left(${digest}, 16))::bit(64)::bigint), 0) AS sum
         FROM ${pg.escapeIdentifier(name)}`,
      )
      return { count: Number(rows[0].count), sum: String(rows[0].sum) }
    },
  }
}

/** The parameter types of the driver. */
const PARAMETERS: Readonly<Record<Kind, string>> = {
  text: 'text',
  uuid: 'uuid',
  number: 'bigint',
  boolean: 'boolean',
  instant: 'bigint',
  bytes: 'text',
}

/** SQL for a given value in the column's type. */
function columnFrom({ name, kind }: Column): string {
  const given = pg.escapeIdentifier(name)
  switch (kind) {
    case 'bytes':
      return `decode(${given}, 'hex')`
    case 'instant':
      // Intervals multiply in floating point, which holds all seconds but not all microseconds.
      return `timestamptz 'epoch' + ${given} / 1000000 * interval '1 second' + ${given} % 1000000 * interval '1 microsecond'`
    default:
      return given
  }
}

/** SQL for a column's value as text. */
function textOf({ name, kind }: Column): string {
  const column = pg.escapeIdentifier(name)
  switch (kind) {
    case 'boolean':
      return `${column}::int::text`
    case 'instant':
      return `(extract(epoch FROM ${column}) * 1000000)::bigint::text`
    case 'bytes':
      return `encode(${column}, 'hex')`
    default:
      return `${column}::text`
  }
}
