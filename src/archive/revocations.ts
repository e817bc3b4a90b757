import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../model/instant.ts'
import { readJournal } from '../sqlite/journal/journal.ts'
import { NotRestored } from './archive.ts'
import { type OpenArchive, openArchive } from './open.ts'

/** Counts the archive's active keys whose hashes the lists have, in hexadecimal. */
export async function countRevoked(
  { database }: OpenArchive,
  lists: readonly (Iterable<string> | AsyncIterable<string>)[],
): Promise<number> {
  const find = database.prepare(
    'SELECT 1 FROM api_keys WHERE key_hash = unhex(?) AND revoked_at IS NULL',
  )
  const found = new Set<string>()
  for (const list of lists)
    for await (const hash of list) if (find.get(hash) !== undefined) found.add(hash)
  return found.size
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

function* listOf(database: DatabaseSync): Generator<[string, Instant]> {
  const list = database.prepare(
    'SELECT lower(hex(key_hash)) AS hash, revoked_at FROM revoked_hashes',
  )
  for (const { hash, revoked_at } of list.iterate()) yield [String(hash), Number(revoked_at)]
}

export function* hashesIn(database: DatabaseSync): Generator<string> {
  for (const [hash] of listOf(database)) yield hash
}
