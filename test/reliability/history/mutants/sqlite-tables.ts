import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { SERVERS_MAX, type ServerRow } from '../../../../src/model/server-row.ts'
import { now } from '../record/record.ts'

/** Time to read a list, in milliseconds. It makes errors of order visible. */
const LIST_MS = 4
const KEY_REMEMBERED_MS = 1_500
const LIST_REMEMBERED_MS = 1_500

export interface KeyRow {
  serial: number
  id: string
  user_id: string
  revoked_at: number | null
  last: number | null
}

/** What a flawed engine reads and writes, on the tables of the real engine. */
export interface FlawedTables {
  find(keyHash: Uint8Array): KeyRow | undefined
  stamp(serial: number): void
  list(userId: string): Promise<ServerRow[]>
  close(): void
}

/** Opens the tables. If `remembers` is set, keys or lists are cached for 1.5 s. */
export function openFlawedTables(path: string, remembers: 'keys' | 'lists' | null): FlawedTables {
  const database = new DatabaseSync(path, { timeout: 500 })
  database.exec('PRAGMA synchronous = NORMAL')
  const keys = new Map<string, { row: KeyRow | undefined; until: number }>()
  const lists = new Map<string, { rows: ServerRow[]; until: number }>()

  return {
    find(keyHash) {
      const name = Buffer.from(keyHash).toString('hex')
      const known = keys.get(name)
      if (known !== undefined && known.until > now()) return known.row
      const row = database
        .prepare(
          `SELECT serial, id, user_id, revoked_at,
             (SELECT max(monotonic) FROM recent_claims WHERE api_key = serial) AS last
           FROM api_keys WHERE key_hash = ?`,
        )
        .get(keyHash) as KeyRow | undefined
      if (remembers === 'keys') keys.set(name, { row, until: now() + KEY_REMEMBERED_MS * 1_000 })
      return row
    },

    stamp(serial) {
      database
        .prepare(
          'INSERT INTO recent_claims (api_key, claimed_at, monotonic, boot) VALUES (?, ?, ?, 1)',
        )
        .run(serial, Date.now() * 1_000, now())
    },

    async list(userId) {
      const known = lists.get(userId)
      if (known !== undefined && known.until > now()) return known.rows
      await delay(LIST_MS)
      const rows = database
        .prepare(
          `SELECT id, name, slug, host_label, edition, status, version, listing_kind FROM servers
           WHERE created_by = ? AND organization_id IS NULL
           ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}`,
        )
        .all(userId) as unknown as ServerRow[]
      if (remembers === 'lists')
        lists.set(userId, { rows, until: now() + LIST_REMEMBERED_MS * 1_000 })
      return rows
    },

    close: () => database.close(),
  }
}
