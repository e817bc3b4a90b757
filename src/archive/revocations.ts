import type { DatabaseSync } from 'node:sqlite'
import {
  complaintAboutError,
  complaintAboutFormat,
  type OpenInput,
  withoutMark,
} from '../model/input.ts'
import type { Instant } from '../model/instant.ts'
import { readLines, sayUnread } from '../sqlite/journal/journal.ts'
import { NotRestored } from './archive.ts'
import { type OpenArchive, openArchive } from './open.ts'
import { findBrokenRows, sayBroken } from './rules/judge.ts'

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

/** Reads lists of revoked keys whole, each a journal or an archive. Throws NotRestored. */
export async function readRevocations(
  names: readonly string[],
  open: OpenInput,
): Promise<Map<string, Instant>> {
  const united = new Map<string, Instant>()
  for (const name of names)
    for (const [hash, at] of await readList(name, open)) if (!united.has(hash)) united.set(hash, at)
  return united
}

async function readList(name: string, open: OpenInput): Promise<Iterable<[string, Instant]>> {
  const bytes = await readUnlessArchive(name, open)
  if (bytes === null) return readArchive(name)
  const complaint = complaintAboutBegin(bytes)
  if (complaint !== null) throw refusal(name, `it ${complaint}`)
  const { revoked, unread } = readLines(withoutMark(bytes.toString()))
  if (unread.count > 0) throw refusal(name, `${sayUnread(unread)}. Mend or delete the line`)
  if (revoked.size === 0) throw refusal(name, `it lists no key. ${LEAVE_OUT}`)
  return revoked
}

const LEAVE_OUT = 'Leave --revocations out if nothing was ever revoked'

const SQLITE_BEGIN = 'SQLite format 3\0'

/** The bytes of a list, to their end. Null if SQLite has to read it, which opens it by itself. */
async function readUnlessArchive(name: string, open: OpenInput): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of open(name)) {
      chunks.push(chunk)
      if (chunks.length > 1) continue
      if (chunk.toString('latin1', 0, SQLITE_BEGIN.length) === SQLITE_BEGIN) return null
      if (complaintAboutBegin(chunk) !== null) break
    }
  } catch (error) {
    throw refusal(name, `it ${complaintAboutError(error)}. ${LEAVE_OUT}`)
  }
  return Buffer.concat(chunks)
}

/** As much as a stream reads at once. */
const BEGIN_BYTES = 65_536

/** A crash leaves zeros in a list, but no other bytes that are no text. */
const NO_TEXT = /[^\0\t-\r -\u00ff]|^\0+$/

function complaintAboutBegin(bytes: Buffer): string | null {
  const isText = !NO_TEXT.test(bytes.toString('latin1', 0, BEGIN_BYTES))
  return complaintAboutFormat(bytes) ?? (isText ? null : 'is not a text file')
}

function refusal(name: string, reason: string): NotRestored {
  return new NotRestored(`cannot read revocations from ${name}: ${reason}`)
}

async function readArchive(path: string): Promise<Iterable<[string, Instant]>> {
  const archive = await openArchive(path)
  try {
    // The other rows of a broken archive are of no use to a list.
    const broken = findBrokenRows(archive.database, 'revoked_hashes')
    if (broken.length > 0) throw refusal(path, sayBroken(broken))
    return [...archive.revocations, ...listOf(archive.database)]
  } finally {
    archive.close()
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
