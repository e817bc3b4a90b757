import type { DatabaseSync } from 'node:sqlite'
import type { Revocations } from '../../model/key-hash.ts'
import { NotJournaled } from '../../model/faults.ts'
import type { Instant } from '../../model/instant.ts'
import { bounded, schemaVersion, transact } from '../database.ts'
import { appendToJournal, journalOf, readJournal } from './journal.ts'

/** An error for the log: keys are revoked again, because the file did not have it. */
export class RevivedKeys extends Error {
  override name = 'RevivedKeys'
}

/** A row of `revoked_hashes`. */
interface Listed {
  number: number
  hash: string
  revoked_at: Instant
}

/** Keeps the list of revoked hashes in a database file and the journal beside it equal. */
export type Mirror = ReturnType<typeof createMirror>

/**
 * Unites the list of an open file and the journal beside it, both ways. `onFault` gets what
 * `openMirror` gives it. Throws NotConfigured or NotJournaled.
 */
export async function unite(
  database: DatabaseSync,
  path: string,
  onFault: (fault: Error) => void,
): Promise<void> {
  await createMirror(database, path, onFault).flush()
}

/**
 * Unites an open file and its journal for a program that goes on to use the file. Lines that can't
 * be written now are written before the next change, or else it fails. `onFault` gets one error
 * with the number of keys that a union has revoked again, and one about damaged lines. Throws
 * NotConfigured.
 */
export async function openMirror(
  database: DatabaseSync,
  path: string,
  onFault: (fault: Error) => void,
): Promise<Mirror> {
  const mirror = createMirror(database, path, onFault)
  try {
    await mirror.flush()
  } catch (error) {
    if (!(error instanceof NotJournaled)) throw error
  }
  return mirror
}

/**
 * Takes a connection on which no other work is under way while one of these functions is. The
 * caller unites before it does anything else.
 */
function createMirror(database: DatabaseSync, path: string, onFault: (fault: Error) => void) {
  const journal = journalOf(path)
  const { readSchema, listedAfter } = prepareReads(database)
  /** Of the file that was last united. `.restore` writes another file over it, and changes this. */
  let united: number | null = null
  /** The last row of the list that this object has taken over. */
  let last = 0
  /** What it has taken over and the journal lacks. */
  const unwritten = new Map<string, Instant>()

  function note(rows: Iterable<Listed>): void {
    for (const { number, hash, revoked_at } of rows) {
      unwritten.set(hash, revoked_at)
      last = number
    }
  }

  /** Lists what only the journal has, and takes over what only the list has. */
  function uniteWithFile(): void {
    const known = readJournal(journal, onFault)
    for (;;) {
      // Before the list, so that a restore in between is noticed the next time.
      const schema = readSchema()
      const { missing, unknown, end } = compare(listedAfter(0), known)
      if (missing.size === 0) {
        note(unknown)
        last = end
        united = schema
        return
      }
      const revived = transact(database, () => listHashes(database, missing))
      if (revived > 0) onFault(revivedKeys(revived, journal))
    }
  }

  async function write(): Promise<void> {
    if (unwritten.size > 0) await appendToJournal(journal, unwritten)
    unwritten.clear()
  }

  return {
    /** Whether the file, with this version of its schema, is the one that was united. */
    isUnited: (schema = readSchema()) => schema === united,

    /** The new rows of the list, also those of an open transaction. */
    readListed: () => [...listedAfter(last)],

    /** Takes over rows that are committed. `write` or `flush` appends them. */
    note,

    /** Appends what was taken over. Throws NotJournaled. */
    write,

    /**
     * Unites the file if it is not yet, or else takes over what other connections have listed, and
     * appends it. Throws NotConfigured if the journal can't be read, or NotJournaled.
     */
    async flush(): Promise<void> {
      if (readSchema() === united) note(listedAfter(last))
      else uniteWithFile()
      await write()
    },
  }
}

/** What only the journal has, what only the list has, and the list's last number. */
function compare(listed: Iterable<Listed>, journal: Revocations) {
  const missing = new Map(journal)
  const unknown: Listed[] = []
  let end = 0
  for (const row of listed) {
    if (!missing.delete(row.hash)) unknown.push(row)
    end = row.number
  }
  return { missing, unknown, end }
}

function prepareReads(database: DatabaseSync) {
  // What another program lists that is no hash revokes no key, and would be no line of a journal.
  const listed = database.prepare(
    `SELECT number, lower(hex(key_hash)) AS hash,
       ${bounded('revoked_at')} AS revoked_at
     FROM revoked_hashes WHERE number > ? AND length(key_hash) = 32 ORDER BY number`,
  )
  return {
    readSchema: schemaVersion(database),
    /** The rows of the list after the one with this number, in order. */
    listedAfter: (number: number) =>
      listed.iterate(number) as Iterable<unknown> as Iterable<Listed>,
  }
}

/** Lists hashes, which revokes their keys. Returns how many keys that were. */
export function listHashes(database: DatabaseSync, hashes: Revocations): number {
  const active = database.prepare('SELECT count(*) AS count FROM api_keys WHERE revoked_at IS NULL')
  const countActive = () => Number(active.get()?.count)
  const insert = database.prepare(
    'INSERT INTO revoked_hashes (key_hash, revoked_at) VALUES (unhex(?), ?)',
  )
  const before = countActive()
  for (const [hash, at] of hashes) insert.run(hash, at)
  return before - countActive()
}

function revivedKeys(count: number, journal: string): RevivedKeys {
  const keys = count === 1 ? '1 active key was' : `${count} active keys were`
  return new RevivedKeys(
    `${keys} revoked again, because ${journal} names them: the database file is older than the journal`,
  )
}
