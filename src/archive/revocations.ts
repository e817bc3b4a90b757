import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../listing/instant.ts'
import type { Revocations } from '../listing/accounts/revocations.ts'
import { readJournal } from '../sqlite/journal/journal.ts'
import { NotRestored } from './archive.ts'
import { openArchive } from './open.ts'

/**
 * Adds hashes to the list of a database file, whose triggers revoke their keys. Returns how many
 * the list lacked. Needs an open transaction.
 */
export function addRevocations(database: DatabaseSync, revocations: Revocations): number {
  const insert = database.prepare(
    `INSERT INTO revoked_hashes (key_hash, revoked_at) SELECT unhex(?1), ?2
     WHERE NOT EXISTS (SELECT 1 FROM revoked_hashes WHERE key_hash = unhex(?1))`,
  )
  let added = 0
  for (const [hash, at] of revocations) added += Number(insert.run(hash, at).changes)
  return added
}

/** Reads lists of revoked keys, each a journal or an archive. Throws NotRestored. */
export async function readRevocations(paths: readonly string[]): Promise<Map<string, Instant>> {
  const united = new Map<string, Instant>()
  for (const path of paths)
    for (const [hash, at] of await readList(path)) if (!united.has(hash)) united.set(hash, at)
  return united
}

async function readList(path: string): Promise<Iterable<[string, Instant]>> {
  if (!existsSync(path))
    throw new NotRestored(`cannot read revocations from ${path}: there is no such file`)
  if (!isSqlite(path)) return readJournal(realpathSync(path))
  const archive = await openArchive(path)
  try {
    return [...archive.revocations, ...listOf(archive.database)]
  } finally {
    archive.close()
  }
}

const SQLITE_BEGIN = 'SQLite format 3\0'

function isSqlite(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const begin = Buffer.alloc(SQLITE_BEGIN.length)
    readSync(file, begin)
    return begin.toString('latin1') === SQLITE_BEGIN
  } finally {
    closeSync(file)
  }
}

function listOf(database: DatabaseSync): [string, Instant][] {
  const statement = database.prepare('SELECT lower(hex(key_hash)), revoked_at FROM revoked_hashes')
  statement.setReturnArrays(true)
  return statement.all() as unknown as [string, Instant][]
}
