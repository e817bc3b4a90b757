import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../model/instant.ts'
import { bounded } from '../sqlite/database.ts'
import type { ArchiveFacts, Facts } from './archive.ts'

/** Counts what a database contains, on either engine. */
export const FACTS = `
  SELECT (SELECT count(*) FROM users) AS users,
    (SELECT count(*) FROM servers) AS servers,
    (SELECT count(*) FROM api_keys) AS api_keys,
    (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) AS active_api_keys`

export function readFacts(database: DatabaseSync): Facts {
  return { ...(database.prepare(FACTS).get() as unknown as Facts) }
}

export function readArchiveFacts(database: DatabaseSync): ArchiveFacts {
  const last = database.prepare(`SELECT ${bounded('made_at')} AS made_at FROM last_backup`).get()
  return { ...readFacts(database), made_at: (last?.made_at as Instant | undefined) ?? null }
}

/**
 * What SQLite finds wrong with the structure of a database; null if nothing. Does not compare
 * indexes. What is wrong with values comes last, and has rules of its own.
 */
export function findProblems(database: DatabaseSync): string | null {
  const found = database.prepare('PRAGMA quick_check(3)').all()
  const texts = found.map((row) => String(Object.values(row)[0]))
  const damage = texts.filter(
    (text) => !/^(ok$|CHECK constraint failed in|\S+ value in)/.test(text),
  )
  return damage.length === 0 ? null : damage.join('; ')
}
