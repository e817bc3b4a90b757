import type { Database } from '../database.ts'

/** Keys in one statement. */
const BATCH = 5_000
const NO_ID = '00000000-0000-0000-0000-000000000000'

interface Revoked {
  id: string
  key_hash: Buffer
  revoked_at: string
}

/**
 * Revokes in `restored` what `replaced` has revoked, and what it has removed with its users.
 * Returns the number of keys. Keys that were issued after `replaced` was last written stay active.
 */
export async function carryOver(replaced: Database, restored: Database): Promise<number> {
  const revoked = await carryRevoked(replaced, restored)
  return revoked + (await carryRemoved(replaced, restored))
}

async function carryRevoked(replaced: Database, restored: Database): Promise<number> {
  let count = 0
  for (let after = NO_ID; ; ) {
    const rows = await replaced.query<Revoked>(
      `SELECT id, key_hash, revoked_at::text FROM api_keys
       WHERE revoked_at IS NOT NULL AND id > $1 ORDER BY id LIMIT ${BATCH}`,
      [after],
    )
    if (rows.length === 0) return count
    after = rows.at(-1)!.id
    const changed = await restored.query(
      `UPDATE api_keys SET revoked_at = given.at
       FROM unnest($1::bytea[], $2::timestamptz[]) AS given (hash, at)
       WHERE key_hash = given.hash AND revoked_at IS NULL RETURNING id`,
      [rows.map(({ key_hash }) => key_hash), rows.map(({ revoked_at }) => revoked_at)],
    )
    count += changed.length
  }
}

async function carryRemoved(replaced: Database, restored: Database): Promise<number> {
  const written = await lastWritten(replaced, restored)
  if (written === null) return 0
  let count = 0
  for (let after = NO_ID; ; ) {
    const rows = await restored.query<Omit<Revoked, 'revoked_at'>>(
      `SELECT id, key_hash FROM api_keys
       WHERE revoked_at IS NULL AND created_at <= $2 AND id > $1 ORDER BY id LIMIT ${BATCH}`,
      [after, written],
    )
    if (rows.length === 0) return count
    after = rows.at(-1)!.id
    const known = await replaced.query<{ key_hash: Buffer }>(
      'SELECT key_hash FROM api_keys WHERE key_hash = ANY ($1::bytea[])',
      [rows.map(({ key_hash }) => key_hash)],
    )
    const hashes = new Set(known.map(({ key_hash }) => key_hash.toString('latin1')))
    const missing = rows.filter(({ key_hash }) => !hashes.has(key_hash.toString('latin1')))
    const changed = await restored.query(
      'UPDATE api_keys SET revoked_at = now() WHERE id = ANY ($1::uuid[]) RETURNING id',
      [missing.map(({ id }) => id)],
    )
    count += changed.length
  }
}

/**
 * The latest instant that `replaced` has noted. Null if the two are of different installations,
 * which know nothing of each other's keys.
 */
async function lastWritten(replaced: Database, restored: Database): Promise<string | null> {
  const installation = 'SELECT applied_at::text FROM schema_migrations WHERE number = 1'
  const [one, other] = await Promise.all([
    replaced.query<{ applied_at: string }>(installation),
    restored.query<{ applied_at: string }>(installation),
  ])
  if (one[0]?.applied_at !== other[0]?.applied_at) return null
  const [latest] = await replaced.query<{ at: string | null }>(
    `SELECT greatest((SELECT max(occurred_at) FROM audit_log),
       (SELECT max(created_at) FROM api_keys))::text AS at`,
  )
  return latest!.at
}
