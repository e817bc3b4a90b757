import { DatabaseSync } from 'node:sqlite'
import type { History } from './record.ts'
import type { Subject } from '../traffic/scene.ts'

export type StoreRecord = Pick<History, 'stamps' | 'lastUses'>

/** Makes the file keep every recorded claim, in the transaction that records it. */
export function keepStamps(path: string): void {
  using(path, (database) =>
    database.exec(`
      CREATE TABLE stamps (number INTEGER PRIMARY KEY, api_key INTEGER, claimed_at INTEGER, monotonic INTEGER);
      CREATE TRIGGER note_stamp AFTER INSERT ON recent_claims BEGIN
        INSERT INTO stamps (api_key, claimed_at, monotonic) VALUES (new.api_key, new.claimed_at, new.monotonic);
      END;
    `),
  )
}

/**
 * Reads what the file kept. The engine decides by the clock of our record, so a stamp is an instant
 * of it.
 */
export function readStamps(path: string, subjects: readonly Subject[]): StoreRecord {
  const names = new Map(subjects.map(({ id, name }) => [id, name]))
  return using(path, (database) => {
    const rows = database
      .prepare(
        'SELECT id, claimed_at, monotonic FROM stamps JOIN api_keys ON serial = api_key ORDER BY number',
      )
      .all() as unknown as { id: string; claimed_at: number; monotonic: number }[]
    const stamps = rows.map(({ id, claimed_at, monotonic }) => ({
      key: names.get(id) ?? '',
      kind: 'claim' as const,
      at: monotonic,
      low: monotonic,
      high: monotonic,
      claimed_at,
    }))
    const shown = database.prepare('SELECT api_key_id, last_used_at FROM api_key_uses').all()
    const lastUses = shown.flatMap(({ api_key_id, last_used_at }) => {
      const name = names.get(api_key_id as string)
      return name === undefined ? [] : [[name, last_used_at as number | null] as const]
    })
    return { stamps, lastUses: Object.fromEntries(lastUses) }
  })
}

function using<T>(path: string, body: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    return body(database)
  } finally {
    database.close()
  }
}
