import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import {
  type Finding,
  judgeLastBackup,
  judgeSchema,
  ok,
  problem,
  warning,
} from '../model/health/finding.ts'
import { formatInstant, type Instant, MINUTE_US, presentInstant } from '../model/instant.ts'
import { readBootId } from './claims/clock.ts'
import { bounded, openToRead } from './database.ts'
import { codeOf, unusable } from './errors.ts'
import { inspectFiles } from './file/inspect-files.ts'
import { assertUpToDate } from './migrate.ts'
import { complaintAboutDatabase } from './schema.ts'

/**
 * Looks at a database file, with `inspectRows` at its rows, and at what stands beside it. Only
 * reads.
 */
export function inspectSqlite(
  path: string,
  inspectRows: (database: DatabaseSync) => Finding[],
): Finding[] {
  const files: Finding[] = []
  try {
    if (!statSync(path).isFile())
      return [problem('database', `${path} is not a regular file`, 'set DATABASE_URL to a file')]
    // First, because SQLite as root gives a log to the owner of the database when it opens it.
    files.push(...inspectFiles(path))
    return [...inspectContent(path, inspectRows), ...files]
  } catch (error) {
    return [notUsable(path, error), ...files]
  }
}

function notUsable(path: string, error: unknown): Finding {
  if (codeOf(error) === 'ENOENT')
    return problem(
      'database',
      `there is no database file ${path}`,
      'set DATABASE_URL to the database of the service, or create one with `server-listing migrate`',
    )
  return problem(
    'database',
    unusable(path, error)?.message ?? `cannot read ${path}: ${(error as Error).message}`,
    'run this command as the user of the service, and check DATABASE_URL',
  )
}

function inspectContent(
  path: string,
  inspectRows: (database: DatabaseSync) => Finding[],
): Finding[] {
  const database = openToRead(path)
  try {
    const complaint = complaintAboutDatabase(database)
    if (complaint !== null)
      return [
        problem(
          'database',
          `cannot use the database file ${path}: ${complaint}`,
          "set DATABASE_URL to this service's file",
        ),
      ]
    const schema = inspectSchema(database, path)
    if (schema.state !== 'ok') return [ok('database', path), schema]
    const findings = [ok('database', path), schema, ...inspectRows(database)]
    // The rows below may be among the broken ones.
    if (findings.some(({ state }) => state === 'problem')) return findings
    const { made_at: madeAt = null } =
      database.prepare(`SELECT ${bounded('made_at')} AS made_at FROM last_backup`).get() ?? {}
    const backup = judgeLastBackup(madeAt as Instant | null, presentInstant())
    return [...findings, inspectClock(database), backup]
  } finally {
    database.close()
  }
}

function inspectSchema(database: DatabaseSync, path: string): Finding {
  try {
    assertUpToDate(database, path)
    return judgeSchema(null)
  } catch (error) {
    return judgeSchema(error as Error)
  }
}

/** The newest instant that the service has written, which can't be in the future. */
function inspectClock(database: DatabaseSync): Finding {
  const { at } = database
    .prepare(
      `SELECT ${bounded('max(at)')} AS at FROM (
         SELECT max(applied_at) AS at FROM schema_migrations
         UNION ALL SELECT max(occurred_at) FROM audit_log
         UNION ALL SELECT made_at FROM last_backup)`,
    )
    .get() as { at: number }
  if (at > presentInstant() + MINUTE_US)
    return warning(
      'clock',
      `the database has an entry from the future, ${formatInstant(at)}: the clock of this machine is or was wrong`,
      'let a time daemon set the clock. The rate limit does not depend on it',
    )
  if (readBootId() !== null) return ok('clock', 'the clock agrees with the entries of the database')
  const wait = 'each start of the service waits a second'
  if (process.platform !== 'linux')
    return ok(
      'clock',
      `the clock agrees with the database, and ${wait}: this system has no boot id`,
    )
  return warning(
    'clock',
    `the system does not tell its boot id, so ${wait}`,
    'let the service read /proc/sys/kernel/random/boot_id',
  )
}
