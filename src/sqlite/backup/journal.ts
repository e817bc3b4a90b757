import { constants, existsSync, readFileSync, realpathSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { formatInstant, type Instant, parseInstant } from '../../listing/instant.ts'
import { NotConfigured } from '../../listing/faults.ts'
import { syncPath } from '../../transfer/backup/sync-path.ts'
import { codeOf } from '../errors.ts'
import { isRoot } from '../file/create-file.ts'

/** A key that was revoked, by its hash, or a user whose account was removed with all keys. */
export type Revocation = { keyHash: Uint8Array } | { userId: string }

/** Revocations with the instant at which each was first written down. */
export interface Revocations {
  /** By the key's hash in hexadecimal. */
  keys: Map<string, Instant>
  users: Map<string, Instant>
}

/** A line of the journal. A crash may leave a part of one, which does not match. */
const LINE = /^(\S+) (withdrawn )?(?:key ([0-9a-f]{64})|user ([0-9a-f-]{36}))$/

const JOURNAL = '-revoked'

/**
 * The append-only journal of revocations beside a database file. It outlives the file: a backup
 * knows nothing of the keys that were revoked after it was made.
 */
export function journalOf(databasePath: string): string {
  return `${realpathSync(databasePath)}${JOURNAL}`
}

/**
 * Appends revocations, or withdraws them: each withdrawal cancels one earlier line. When it
 * returns, the lines survive a loss of power.
 */
export async function appendToJournal(
  path: string,
  revocations: readonly Revocation[],
  at: Instant,
  { withdrawn = false } = {},
): Promise<void> {
  const isNew = !existsSync(path)
  // A line begins after a line break, whatever a crash has left before it.
  const kind = withdrawn ? 'withdrawn ' : ''
  const lines = revocations.map((one) => `\n${formatInstant(at)} ${kind}${subjectOf(one)}\n`)
  const file = await openToAppend(path)
  try {
    if (isRoot()) await giveToOwner(file, path)
    await file.appendFile(lines.join(''))
    await file.datasync()
  } finally {
    await file.close()
  }
  if (isNew) await syncPath(dirname(path))
}

/**
 * Root follows no link, like SQLite. The user of the service could lead root to any file with it.
 */
async function openToAppend(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const flags = O_WRONLY | O_APPEND | O_CREAT | (isRoot() ? O_NOFOLLOW : 0)
  try {
    return await open(path, flags, 0o600)
  } catch (error) {
    if (codeOf(error) !== 'ELOOP') throw error
    throw new NotConfigured(
      `cannot write the journal of revocations ${path}: it is a link, which root does not follow; ` +
        'run this as the user of the service, or replace the link by a file',
    )
  }
}

/**
 * A command of root must not leave a journal that the service can't read. SQLite gives its own
 * files beside the database to the owner of the database, too.
 */
async function giveToOwner(file: FileHandle, path: string): Promise<void> {
  const owner = await stat(path.slice(0, -JOURNAL.length)).catch(() => null)
  if (owner !== null) await file.chown(owner.uid, owner.gid)
}

function subjectOf(revocation: Revocation): string {
  if ('userId' in revocation) return `user ${revocation.userId}`
  return `key ${Buffer.from(revocation.keyHash).toString('hex')}`
}

/** Reads journals. A missing one is empty. Throws NotConfigured if one can't be read. */
export function readJournals(paths: readonly string[]): Revocations {
  const keys = createTally()
  const users = createTally()
  for (const path of paths) {
    for (const line of textOf(path).split('\n')) {
      const [, instant = '', withdrawn, key, user] = LINE.exec(line) ?? []
      const at = parseInstant(instant)
      if (at === null) continue
      const count = withdrawn === undefined ? 1 : -1
      if (key !== undefined) keys.add(key, count, at)
      if (user !== undefined) users.add(user, count, at)
    }
  }
  return { keys: keys.positive(), users: users.positive() }
}

/** Counts lines by subject, with the instant of the first one. */
function createTally() {
  const tally = new Map<string, { count: number; at: Instant }>()
  return {
    add(subject: string, count: number, at: Instant): void {
      const entry = tally.get(subject)
      if (entry === undefined) tally.set(subject, { count, at })
      else entry.count += count
    },

    positive: (): Map<string, Instant> =>
      new Map([...tally].flatMap(([subject, { count, at }]) => (count > 0 ? [[subject, at]] : []))),
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw new NotConfigured(
      `cannot read the journal of revocations ${path}: ${(error as Error).message}; ` +
        'without it, revoked keys could work again',
    )
  }
}
