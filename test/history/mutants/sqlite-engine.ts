import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { USE_INTERVAL } from '../../../src/listing/api-key.ts'
import { AuthenticationFault, ListFault } from '../../../src/listing/faults.ts'
import { SERVERS_MAX, type ServerRow } from '../../../src/listing/server.ts'
import type { ServingStore } from '../../../src/listing/store.ts'
import { now } from '../record.ts'

/** How long reading a list takes in this engine, in milliseconds: what is done too early or too late shows by it. */
const LIST_MS = 4
const KEY_REMEMBERED_MS = 1_500
const LIST_REMEMBERED_MS = 500

/** What is wrong with it. `nothing` shows that it is the flaw that is caught, and not the engine. */
export type Flaw =
  | 'nothing'
  | 'check then set'
  | 'claim kept after a failed list'
  | 'key remembered for 1.5 s'
  | 'stamp on 429'
  | 'list remembered for 0.5 s'

interface KeyRow {
  serial: number
  id: string
  user_id: string
  revoked_at: number | null
  last: number | null
}

/** The steps of spec 5.2 as one would write them down, each by itself, on the tables of the real engine. */
export function openFlawedEngine(
  path: string,
  flaw: Flaw,
): Pick<ServingStore, 'useApiKey'> & { close(): void } {
  const database = new DatabaseSync(path, { timeout: 500 })
  database.exec('PRAGMA synchronous = NORMAL')
  const remembered = new Map<string, { row: KeyRow | undefined; until: number }>()
  const lists = new Map<string, { rows: ServerRow[]; until: number }>()
  const underWay = new Set<number>()

  function find(keyHash: Uint8Array): KeyRow | undefined {
    const name = Buffer.from(keyHash).toString('hex')
    const known = remembered.get(name)
    if (known !== undefined && known.until > now()) return known.row
    const row = database
      .prepare(
        `SELECT serial, id, user_id, revoked_at,
           (SELECT max(monotonic) FROM uses WHERE api_key = serial) AS last
         FROM api_keys WHERE key_hash = ?`,
      )
      .get(keyHash) as KeyRow | undefined
    if (flaw === 'key remembered for 1.5 s')
      remembered.set(name, { row, until: now() + KEY_REMEMBERED_MS * 1_000 })
    return row
  }

  function stamp(serial: number): void {
    database
      .prepare('INSERT INTO uses (api_key, used_at, monotonic, boot) VALUES (?, ?, ?, 1)')
      .run(serial, Date.now() * 1_000, now())
  }

  async function list(userId: string): Promise<ServerRow[]> {
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
    if (flaw === 'list remembered for 0.5 s')
      lists.set(userId, { rows, until: now() + LIST_REMEMBERED_MS * 1_000 })
    return rows
  }

  return {
    async useApiKey(keyHash) {
      try {
        const found = find(keyHash)
        if (found === undefined) return { outcome: 'unknown' }
        const { serial, id: apiKeyId, user_id: userId } = found
        if (found.revoked_at !== null) return { outcome: 'revoked', apiKeyId }
        const isTooSoon = found.last !== null && now() - found.last < USE_INTERVAL
        if (isTooSoon || underWay.has(serial)) {
          if (flaw === 'stamp on 429' && isTooSoon) stamp(serial)
          return { outcome: 'too soon', apiKeyId }
        }
        if (flaw === 'claim kept after a failed list') stamp(serial)
        else if (flaw !== 'check then set') underWay.add(serial)
        try {
          const rows = await list(userId).catch((cause: unknown) => {
            throw new ListFault('the servers could not be read', { cause })
          })
          if (flaw !== 'claim kept after a failed list') stamp(serial)
          return { outcome: 'used', apiKeyId, userId, revision: String(now()), rows }
        } finally {
          underWay.delete(serial)
        }
      } catch (error) {
        if (error instanceof ListFault) throw error
        throw new AuthenticationFault('the database failed', { cause: error })
      }
    },
    close: () => database.close(),
  }
}
