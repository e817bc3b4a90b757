import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { formatInstant, type Instant, parseInstant } from '../../listing/instant.ts'
import { NotConfigured } from '../../listing/faults.ts'
import { syncPath } from '../../transfer/backup/sync-path.ts'
import { codeOf } from '../errors.ts'

/** A key that was revoked, by its hash, or a user whose account was removed with all keys. */
export type Revocation = { keyHash: Uint8Array } | { userId: string }

/** Revocations with the instant at which each was first written down. */
export interface Revocations {
  /** By the key's hash in hexadecimal. */
  keys: Map<string, Instant>
  users: Map<string, Instant>
}

/** A line of the journal. A crash may leave a part of one, which no line matches. */
const LINE = /^(\S+) (?:key ([0-9a-f]{64})|user ([0-9a-f-]{36}))$/

/**
 * The append-only journal of revocations beside a database file. It outlives the file: a backup
 * knows nothing of the keys that were revoked after it was made.
 */
export function journalOf(databasePath: string): string {
  return `${realpathSync(databasePath)}-revoked`
}

/** Appends revocations. When it returns, they survive a loss of power. */
export async function appendToJournal(
  path: string,
  revocations: readonly Revocation[],
  at: Instant,
): Promise<void> {
  const isNew = !existsSync(path)
  // A line begins after a line break, whatever a crash has left before it.
  const lines = revocations.map((one) => `\n${formatInstant(at)} ${subjectOf(one)}\n`)
  const file = await open(path, 'a', 0o600)
  try {
    await file.appendFile(lines.join(''))
    await file.datasync()
  } finally {
    await file.close()
  }
  if (isNew) await syncPath(dirname(path))
}

function subjectOf(revocation: Revocation): string {
  if ('userId' in revocation) return `user ${revocation.userId}`
  return `key ${Buffer.from(revocation.keyHash).toString('hex')}`
}

/** Reads journals. A missing one is empty. Throws NotConfigured if one can't be read. */
export function readJournals(paths: readonly string[]): Revocations {
  const keys = new Map<string, Instant>()
  const users = new Map<string, Instant>()
  for (const path of paths) {
    for (const line of textOf(path).split('\n')) {
      const [, instant = '', key, user] = LINE.exec(line) ?? []
      const at = parseInstant(instant)
      if (at === null) continue
      if (key !== undefined && !keys.has(key)) keys.set(key, at)
      if (user !== undefined && !users.has(user)) users.set(user, at)
    }
  }
  return { keys, users }
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
