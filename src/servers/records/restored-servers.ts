import { REGISTERED_MAX, type RegisteredServer } from '../registered-server.ts'
import type { Transaction } from '../../database/database.ts'
import { inStrings, inUuids, sql } from '../../database/sql.ts'
import { canRegisterIn, countOwned, isOwn } from './registered-servers.ts'
import { insertRows } from './server-imports.ts'

/**
 * Registers deleted servers again and returns how many. Leaves out those that have no place any
 * more: see `undoServerChange`. The caller holds the user's lock.
 */
export async function restoreRemoved(
  transaction: Transaction,
  userId: string,
  servers: readonly RegisteredServer[],
): Promise<number> {
  const isFree = await findFree(transaction, userId, servers)
  const open = new Set<string | null>()
  for (const place of placesOf(servers))
    if (await canRegisterIn(transaction, userId, place)) open.add(place)
  const owned = await countOwned(transaction, userId)
  const restored = servers
    .filter((server) => open.has(server.organization_id) && isFree(server))
    .slice(0, Math.max(0, REGISTERED_MAX - owned))
  for (const place of open) {
    const ofPlace = restored.filter((server) => server.organization_id === place)
    const rows = ofPlace.map(({ address, ...server }) => ({ ...server, host_label: address }))
    await insertRows(transaction, userId, place, rows)
  }
  return restored.length
}

/** The places of the servers, in one order for all callers, because each organization is locked. */
function placesOf(servers: readonly RegisteredServer[]): (string | null)[] {
  const ids = servers.flatMap(({ organization_id }) => organization_id ?? [])
  return [null, ...new Set(ids.toSorted((one, other) => (one < other ? -1 : 1)))]
}

/** Tells whether a server's id and slug are free, among the user's servers of now. */
async function findFree(
  transaction: Transaction,
  userId: string,
  servers: readonly RegisteredServer[],
): Promise<(server: RegisteredServer) => boolean> {
  const ids = servers.map(({ id }) => id)
  const slugs = servers.flatMap(({ slug }) => (slug === null ? [] : [slug]))
  const known = await transaction.all<{ id: string }>(
    sql`SELECT id FROM servers WHERE id ${inUuids(ids)}`,
  )
  const taken = await transaction.all<{ slug: string; organization_id: string | null }>(sql`
    SELECT slug, organization_id FROM servers WHERE ${isOwn(userId)} AND slug ${inStrings(slugs)}`)
  const idsTaken = new Set(known.map(({ id }) => id))
  const slugsTaken = new Set(taken.map(slugInPlace))
  return (server) =>
    !idsTaken.has(server.id) && (server.slug === null || !slugsTaken.has(slugInPlace(server)))
}

function slugInPlace(server: { slug: string | null; organization_id: string | null }): string {
  return `${server.organization_id ?? ''} ${server.slug}`
}
