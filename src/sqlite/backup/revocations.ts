import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../listing/instant.ts'
import { transact } from '../database.ts'
import { journalOf, readJournals, type Revocations } from './journal.ts'

export class RevivedKeys extends Error {
  override name = 'RevivedKeys'
}

/**
 * Revokes the active keys that the journal names, before the file is served. There are some if an
 * older file was put in its place, or if a revocation was interrupted. `onFault` gets one error
 * with their number.
 */
export function completeRevocations(
  database: DatabaseSync,
  path: string,
  onFault: (fault: unknown) => void,
): void {
  const journal = journalOf(path)
  const revoked = applyRevocations(database, readJournals([journal]))
  if (revoked === 0) return
  const keys = revoked === 1 ? '1 active key was' : `${revoked} active keys were`
  onFault(
    new RevivedKeys(
      `${keys} revoked again, because ${journal} names them: the database file is older than the journal, or a revocation was interrupted`,
    ),
  )
}

/** Revokes what is still active in one transaction, and returns the number of keys. */
export function applyRevocations(database: DatabaseSync, { keys, users }: Revocations): number {
  if (keys.size + users.size === 0) return 0
  return transact(database, () => {
    let revoked = 0
    const byHash = database.prepare(
      'UPDATE api_keys SET revoked_at = ? WHERE key_hash = ? AND revoked_at IS NULL',
    )
    for (const [hash, at] of keys) revoked += Number(byHash.run(at, bytesOf(hash)).changes)
    const byUser = database.prepare(
      'UPDATE api_keys SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL',
    )
    for (const [id, at] of users) revoked += Number(byUser.run(at, id).changes)
    return revoked
  })
}

function bytesOf(hash: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hash, 'hex'))
}

/** The keys that a database has revoked. */
export function readRevocations(database: DatabaseSync): Revocations {
  const rows = database
    .prepare(
      'SELECT lower(hex(key_hash)) AS hash, revoked_at FROM api_keys WHERE revoked_at IS NOT NULL',
    )
    .all() as unknown as { hash: string; revoked_at: Instant }[]
  return { keys: new Map(rows.map(({ hash, revoked_at }) => [hash, revoked_at])), users: new Map() }
}

/**
 * The active keys of `older` that `newer` has removed with their users. Empty if the two are of
 * different installations, which know nothing of each other's keys.
 */
export function readRemoved(older: DatabaseSync, newer: DatabaseSync, at: Instant): Revocations {
  const keys = new Map<string, Instant>()
  if (installationOf(older) !== installationOf(newer)) return { keys, users: new Map() }
  const last = newer.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'api_keys'`).get()
  const known = newer.prepare('SELECT 1 FROM api_keys WHERE key_hash = ?')
  // Serials are never given twice. A later one was issued after `newer` was written.
  const active = older.prepare(
    'SELECT key_hash FROM api_keys WHERE revoked_at IS NULL AND serial <= ?',
  )
  for (const { key_hash } of active.iterate(Number(last?.seq ?? 0)) as Iterable<{
    key_hash: Uint8Array
  }>)
    if (known.get(key_hash) === undefined) keys.set(Buffer.from(key_hash).toString('hex'), at)
  return { keys, users: new Map() }
}

/** The instant at which the schema was made, which every copy of a database shares. */
function installationOf(database: DatabaseSync): unknown {
  return database.prepare('SELECT applied_at FROM schema_migrations WHERE number = 1').get()
    ?.applied_at
}
