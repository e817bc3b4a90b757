import type { Instant } from '../../model/instant.ts'
import { SERVERS_MAX } from '../../model/server-row.ts'
import type { Queries, Transaction } from '../../database/database.ts'
import { at, sql, uuid } from '../../database/sql.ts'
import {
  CHANGES_MAX,
  CHANGES_SIZE_MAX,
  type ChangeAction,
  type NamedServer,
  type ServerChange,
  UNDO_US,
} from '../server-change.ts'
import { countOwned, isPersonal, type KeptServer, type RegisteredRow } from './server-rows.ts'

/** A change as its table has it. */
export interface KeptChange {
  id: string
  action: ChangeAction
  servers: KeptServer[]
  /** `owned` is the number of the user's servers before the change. */
  listing: Pick<ServerChange, 'entered' | 'left'> & { owned: number }
  restored: number | null
}

/** Changes servers, and keeps what they were and became. The caller holds the user's lock. */
export async function keepChange(
  transaction: Transaction,
  userId: string,
  change: { id: string; action: ChangeAction; changed_at: Instant },
  write: () => Promise<KeptServer[]>,
): Promise<ServerChange> {
  const owned = await countOwned(transaction, userId)
  const before = await readListing(transaction, userId)
  const servers = await write()
  const after = await readListing(transaction, userId)
  const listing = { entered: without(after, before), left: without(before, after), owned }
  const kept: KeptChange = { ...change, servers, listing, restored: null }
  await insert(transaction, userId, kept, change.changed_at)
  return toChange(kept)
}

/** The servers that the API returns for this user. */
function readListing(queries: Queries, userId: string): Promise<NamedServer[]> {
  return queries.all<NamedServer>(sql`
    SELECT id, name FROM servers WHERE ${isPersonal(userId)}
    ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}`)
}

function without(one: readonly NamedServer[], other: readonly NamedServer[]): NamedServer[] {
  const ids = new Set(other.map(({ id }) => id))
  return one.filter(({ id }) => !ids.has(id))
}

async function insert(
  transaction: Transaction,
  userId: string,
  { id, action, servers, listing }: KeptChange,
  now: Instant,
): Promise<void> {
  const text = JSON.stringify(servers.map(shorten))
  const room = CHANGES_SIZE_MAX - text.length
  await transaction.run(sql`
    DELETE FROM server_changes WHERE user_id = ${uuid(userId)} AND id NOT IN (
      SELECT id FROM (
        SELECT id, row_number() OVER latest AS position, sum(length(servers)) OVER latest AS size
        FROM server_changes
        WHERE user_id = ${uuid(userId)} AND changed_at > ${at(now - UNDO_US)}
        WINDOW latest AS (ORDER BY changed_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
      ) AS known WHERE position < ${CHANGES_MAX} AND size <= ${room})`)
  await transaction.run(sql`
    INSERT INTO server_changes (id, user_id, changed_at, action, servers, listing)
    VALUES (${uuid(id)}, ${uuid(userId)}, ${at(now)}, ${action}, ${text},
      ${JSON.stringify(listing)})`)
}

/** A change of this user that is younger than UNDO_US. */
export async function findKept(
  queries: Queries,
  userId: string,
  id: string,
  now: Instant,
): Promise<KeptChange | null> {
  const row = await queries.get<Omit<KeptChange, 'servers' | 'listing'> & Stored>(sql`
    SELECT id, action, servers, listing, restored FROM server_changes
    WHERE id = ${uuid(id)} AND user_id = ${uuid(userId)} AND changed_at > ${at(now - UNDO_US)}`)
  if (row === null) return null
  return {
    ...row,
    servers: (JSON.parse(row.servers) as ShortChange[]).map(lengthen),
    listing: JSON.parse(row.listing) as KeptChange['listing'],
  }
}

interface Stored {
  servers: string
  listing: string
}

/** Of a server that was there before, only the values that it got. */
interface ShortChange {
  before: RegisteredRow | null
  after: Partial<RegisteredRow> | null
}

function shorten({ before, after }: KeptServer): ShortChange {
  if (before === null || after === null) return { before, after }
  const entries = Object.entries(after) as [keyof RegisteredRow, unknown][]
  return {
    before,
    after: Object.fromEntries(entries.filter(([name, value]) => value !== before[name])),
  }
}

function lengthen({ before, after }: ShortChange): KeptServer {
  return { before, after: after === null ? null : ({ ...before, ...after } as RegisteredRow) }
}

export function toChange({ id, action, servers, listing, restored }: KeptChange): ServerChange {
  const changed = servers.map(({ before, after }) => {
    const one = after ?? before!
    return { id: one.id, name: one.name }
  })
  const moved = servers.find(
    ({ before, after }) =>
      before !== null && after !== null && before.organization_id !== after.organization_id,
  )
  const movedTo = moved === undefined ? {} : { movedTo: moved.after!.organization_id }
  const { entered, left } = listing
  const added = servers.filter(({ before }) => before === null).length
  return { id, action, changed, added, ...movedTo, entered, left, restored }
}
