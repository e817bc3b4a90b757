import type { DatabaseSync } from 'node:sqlite'
import type { Call, Decided } from '../../claims/call.ts'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { ListFault } from '../../model/faults.ts'
import { SERVERS_MAX, type ServerRow } from '../../model/server-row.ts'
import type { RecentClaim } from './claim-rows.ts'
import type { KeyRows } from './key-rows.ts'
import type { RecentClaims } from './recent-claims.ts'

/** What holds for all calls of one transaction. */
export interface Batch {
  /** The claims so far. They count once the transaction has committed. */
  granted: RecentClaim[]
  /** The file's revision in this transaction. */
  revision: string
  /** The present time on the monotonic clock. */
  now: number
}

/** Steps 3 to 5 of spec 5.2 for one call, within the open transaction. */
export function createDecideCall(
  database: DatabaseSync,
  keyRows: KeyRows,
  lastUse: RecentClaims['lastUse'],
): (batch: Batch, call: Call) => Decided {
  const readList = createReadList(database)

  return ({ granted, revision, now }, call) => {
    const row = keyRows.find(call.keyHash)
    if (row === undefined) return { outcome: 'unknown' }
    const { serial, apiKeyId, userId, isRefused } = row
    if (isRefused) return { outcome: 'revoked', apiKeyId }

    const last = lastUse(serial, call.keyHash)
    if (last !== 0 && now - last < CLAIM_INTERVAL_US) return { outcome: 'limited', apiKeyId }

    try {
      const held = call.listings.get(userId)
      if (held?.revision === revision) {
        // The rows of an owner's keys share one string. A copy for each takes megabytes.
        row.userId = held.userId
        granted.push({ serial, keyHash: call.keyHash })
        return { outcome: 'granted', apiKeyId, userId, revision, rows: null, held }
      }
      const rows = readList(userId)
      granted.push({ serial, keyHash: call.keyHash })
      return { outcome: 'granted', apiKeyId, userId, revision, rows }
    } catch (error) {
      return new ListFault('the servers could not be read', { cause: error })
    }
  }
}

/** Prepares its statement at the first call: if the servers cannot be read, the keys still can. */
function createReadList(database: DatabaseSync): (userId: string) => ServerRow[] {
  let listServers: ReturnType<typeof prepareList> | null = null
  return (userId) => {
    listServers ??= prepareList(database)
    return (listServers.all(userId) as unknown as Values[]).map(toRow)
  }
}

function prepareList(database: DatabaseSync) {
  const listServers = database.prepare(`
    SELECT id, name, slug, host_label, edition, status, version, listing_kind FROM servers
    WHERE created_by = ? AND organization_id IS NULL
    ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}
  `)
  // The driver's objects are slow to make and to read: with them a listing costs a third more.
  listServers.setReturnArrays(true)
  return listServers
}

type Values = [string, string, string | null, string, string, string, string | null, string | null]

function toRow(values: Values): ServerRow {
  const [id, name, slug, host_label, edition, status, version, listing_kind] = values
  return { id, name, slug, host_label, edition, status, version, listing_kind }
}
