import { REGISTERED_MAX, type RegisteredServer } from '../server.ts'
import type { Transaction, Database, Dialect, Queries } from '../../database/database.ts'
import { inStrings, inUuids, sql, at, type Sql, uuid } from '../../database/sql.ts'
import {
  canRegisterIn,
  countOwned,
  isOwn,
  isOfMember,
  columnsOf,
  type RegisteredRow,
  toRegisteredServer,
} from './servers.ts'
import { insertRows } from './server-imports.ts'
import type { Actor, AuditAction } from '../../model/audit.ts'
import type { Instant } from '../../model/instant.ts'
import { CHANGES_MAX, type BulkChange, UNDO_US, type WantedChange } from '../bulk-change.ts'
import { act, type Note, sayServers } from '../../accounts/records/audit.ts'

export function bulkChanges(database: Database) {
  const { dialect } = database

  return {
    /**
     * Changes the servers in one transaction. A status needs membership in the server's
     * organization; a deletion does not. If this id is known, returns that change. Null if no
     * server is left to change: none of them is this user's.
     */
    changeServers: (
      userId: string,
      wanted: WantedChange,
      actor: Actor,
    ): Promise<BulkChange | null> =>
      act(database, actor, (transaction, note) =>
        change(transaction, dialect, userId, wanted, actor.at, note),
      ),

    /** A change of this user that is younger than UNDO_US. */
    async findBulkChange(userId: string, id: string, now: Instant): Promise<BulkChange | null> {
      const kept = await find(database, dialect, userId, id, now)
      return kept === null ? null : toChange(kept)
    },

    /**
     * Gives the servers their former status and instant, or registers deleted ones again with their
     * ids and values. Leaves a server as it is if it has changed since, if its slug is taken, if
     * the user is no member of its organization any more, or if the user has REGISTERED_MAX
     * servers. Undoing twice undoes once. Null if there is no such change.
     */
    undoBulkChange: (userId: string, id: string, actor: Actor): Promise<BulkChange | null> =>
      act(database, actor, (transaction, note) =>
        undo(transaction, dialect, userId, id, actor.at, note),
      ),
  }
}

/** A change as its table has it. */
interface Kept {
  id: string
  status: string | null
  changed_at: Instant
  /** The servers as they were before. */
  servers: RegisteredServer[]
  restored: number | null
}

function toChange({ id, status, servers, restored }: Kept): BulkChange {
  return { id, status, changed: servers.map((one) => ({ id: one.id, name: one.name })), restored }
}

async function find(
  queries: Queries,
  { instant }: Dialect,
  userId: string,
  id: string,
  now: Instant,
): Promise<Kept | null> {
  const row = await queries.get<Omit<Kept, 'servers'> & { servers: string }>(sql`
    SELECT id, status, servers, restored, ${instant('changed_at')} FROM bulk_changes
    WHERE id = ${uuid(id)} AND user_id = ${uuid(userId)} AND changed_at > ${at(now - UNDO_US)}`)
  return row === null ? null : { ...row, servers: JSON.parse(row.servers) as RegisteredServer[] }
}

/** A former member can delete the servers that stay under the organization, and only that. */
const maySetStatus = (userId: string): Sql =>
  sql`(servers.organization_id IS NULL OR ${isOfMember(userId)})`

async function change(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  { id, status, servers: ids }: WantedChange,
  now: Instant,
  note: Note,
): Promise<BulkChange | null> {
  await transaction.lock('users', [userId])
  const known = await find(transaction, dialect, userId, id, now)
  if (known !== null) return toChange(known)
  const mayChange = status === null ? sql`true` : maySetStatus(userId)
  const rows = await transaction.all<RegisteredRow>(sql`
    SELECT ${columnsOf(dialect)} FROM servers
    WHERE ${isOwn(userId)} AND id ${inUuids(ids)} AND ${mayChange}
    ORDER BY servers.updated_at DESC, id DESC`)
  if (rows.length === 0) return null
  const changing = rows.filter((row) => row.status !== status)
  const changingIds = inUuids(changing.map((row) => row.id))
  await transaction.run(
    status === null
      ? sql`DELETE FROM servers WHERE id ${changingIds}`
      : sql`UPDATE servers SET status = ${status}, updated_at = ${at(now)}
          WHERE id ${changingIds}`,
  )
  const kept: Kept = {
    id,
    status,
    changed_at: now,
    servers: changing.map(toRegisteredServer),
    restored: null,
  }
  await keep(transaction, userId, kept)
  if (changing.length > 0)
    note(actionFor(status), userId, sayServers(changing.map((row) => row.id)))
  return toChange(kept)
}

function actionFor(status: string | null): AuditAction {
  if (status === null) return 'servers removed'
  return status === 'published' ? 'servers published' : 'servers unpublished'
}

async function keep(
  transaction: Transaction,
  userId: string,
  { id, status, changed_at, servers }: Kept,
): Promise<void> {
  await transaction.run(sql`
    DELETE FROM bulk_changes WHERE user_id = ${uuid(userId)} AND id NOT IN (
      SELECT id FROM bulk_changes WHERE user_id = ${uuid(userId)}
        AND changed_at > ${at(changed_at - UNDO_US)}
      ORDER BY changed_at DESC, id DESC LIMIT ${CHANGES_MAX - 1})`)
  await transaction.run(sql`
    INSERT INTO bulk_changes (id, user_id, changed_at, status, servers)
    VALUES (${uuid(id)}, ${uuid(userId)}, ${at(changed_at)}, ${status}, ${JSON.stringify(servers)})`)
}

async function undo(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  id: string,
  now: Instant,
  note: Note,
): Promise<BulkChange | null> {
  await transaction.lock('users', [userId])
  const kept = await find(transaction, dialect, userId, id, now)
  if (kept === null) return null
  if (kept.restored !== null) return toChange(kept)
  const restored =
    kept.status === null
      ? await undoRemoval(transaction, userId, kept.servers)
      : await undoStatus(transaction, userId, kept)
  await transaction.run(sql`UPDATE bulk_changes SET restored = ${restored} WHERE id = ${uuid(id)}`)
  const ids = kept.servers.map((server) => server.id)
  if (restored > 0) note('servers restored', userId, `${restored} of ${sayServers(ids)}`)
  return toChange({ ...kept, restored })
}

/** A server that has another status or instant by now has changed since, and stays. */
function undoStatus(
  transaction: Transaction,
  userId: string,
  { status, changed_at, servers }: Kept,
): Promise<number> {
  return transaction.runGiven(
    { id: 'uuid', status: 'text', updated_at: 'instant' },
    servers.map((one) => ({ id: one.id, status: one.status, updated_at: one.updated_at })),
    ({ column, from }) => sql`
      UPDATE servers SET status = ${column('status')}, updated_at = ${column('updated_at')} ${from}
      WHERE servers.id = ${column('id')} AND servers.created_by = ${uuid(userId)}
        AND servers.status = ${status} AND servers.updated_at = ${at(changed_at)}
        AND ${maySetStatus(userId)}`,
  )
}

/**
 * Registers deleted servers again and returns how many. Leaves out those that have no place any
 * more: see `undoBulkChange`. The caller holds the user's lock.
 */
export async function undoRemoval(
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
