import { REGISTERED_MAX } from '../server.ts'
import type { Dialect, Transaction } from '../../database/database.ts'
import { inStrings, inUuids, sql } from '../../database/sql.ts'
import type { KeptChange } from './kept-changes.ts'
import {
  canRegisterIn,
  columnsOf,
  countOwned,
  isOwn,
  type KeptServer,
  type RegisteredRow,
  writeServers,
} from './server-rows.ts'

/**
 * Makes servers again what they were before a change, and returns how many. Leaves out those that
 * are not as the change left them, and those that have no place any more. The caller holds the
 * user's lock.
 */
export async function undoServers(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  { servers, listing }: KeptChange,
): Promise<number> {
  const open = await findOpenPlaces(transaction, userId, servers)
  const ids = servers.map(idOf)
  // Another program that writes the rows must not change one in between.
  await transaction.lock('servers', ids)
  const rows = await transaction.all<RegisteredRow>(
    sql`SELECT ${columnsOf(dialect)} FROM servers WHERE id ${inUuids(ids)}`,
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  const left = servers.filter(
    (one) =>
      isAsLeft(stored.get(idOf(one)), one.after) &&
      (one.before === null || open.has(one.before.organization_id)),
  )
  const placed = await withFreeSlugs(transaction, userId, left)
  // An operator's import can exceed REGISTERED_MAX, and its servers come back nevertheless.
  const ownedMax = Math.max(REGISTERED_MAX, listing.owned)
  const restored = withinLimit(placed, ownedMax - (await countOwned(transaction, userId)))
  await writeServers(
    transaction,
    restored.map(({ before, after }) => ({ before: after, after: before })),
  )
  return restored.length
}

const idOf = ({ before, after }: KeptServer): string => (before ?? after!).id

function isAsLeft(row: RegisteredRow | undefined, after: RegisteredRow | null): boolean {
  if (row === undefined || after === null) return row === undefined && after === null
  const names = Object.keys(after) as (keyof RegisteredRow)[]
  return names.every((name) => row[name] === after[name])
}

/** Of the places in which servers were, those in which the user can still register one. */
async function findOpenPlaces(
  transaction: Transaction,
  userId: string,
  servers: readonly KeptServer[],
): Promise<ReadonlySet<string | null>> {
  const places = servers.flatMap(({ before }) => before?.organization_id ?? [])
  const open = new Set<string | null>([null])
  // Each organization is locked, so all callers go in one order.
  for (const place of [...new Set(places)].toSorted((one, other) => (one < other ? -1 : 1)))
    if (await canRegisterIn(transaction, userId, place)) open.add(place)
  return open
}

/** Without the servers whose former slug another server of the user has by now. */
async function withFreeSlugs(
  transaction: Transaction,
  userId: string,
  servers: readonly KeptServer[],
): Promise<readonly KeptServer[]> {
  const wanted = servers.flatMap(({ before, after }) =>
    before === null || (after !== null && slugInPlace(before) === slugInPlace(after))
      ? []
      : (before.slug ?? []),
  )
  if (wanted.length === 0) return servers
  const holders = await transaction.all<Slugged & { id: string }>(sql`
    SELECT id, slug, organization_id FROM servers
    WHERE ${isOwn(userId)} AND slug ${inStrings(wanted)}`)
  const held = Map.groupBy(holders, slugInPlace)
  return servers.filter(
    (one) =>
      one.before === null ||
      (held.get(slugInPlace(one.before)) ?? []).every(({ id }) => id === idOf(one)),
  )
}

type Slugged = Pick<RegisteredRow, 'slug' | 'organization_id'>

const slugInPlace = ({ slug, organization_id }: Slugged): string =>
  `${organization_id ?? ''} ${slug}`

/** Without the deleted servers for which there is no room. */
function withinLimit(servers: readonly KeptServer[], free: number): readonly KeptServer[] {
  const removed = servers.filter(({ before }) => before === null).length
  let room = free + removed
  return servers.filter(({ after }) => after !== null || room-- > 0)
}
