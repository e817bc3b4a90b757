import type { Transaction, Database, Dialect } from '../../database/database.ts'
import { inStrings, inUuids, type Sql, sql, uuid } from '../../database/sql.ts'
import {
  canRegisterIn,
  columnsOf,
  isOfMember,
  isOwn,
  placeOf,
  type RegisteredRow,
  writeServers,
} from './server-rows.ts'
import type { Actor } from '../../model/audit.ts'
import type { Instant } from '../../model/instant.ts'
import type { Becomes, ChangeAction, ServerChange, WantedChange } from '../server-change.ts'
import { act, type Note, sayServers } from '../../accounts/records/audit.ts'
import { findKept, keepChange, toChange } from './kept-changes.ts'
import { findMatching } from './server-search.ts'
import { undoServers } from './undone-change.ts'

/** Why a change changes nothing. */
export type Unchanged =
  /** No server is left to change: none of them is this user's. */
  | { reason: 'not found' }
  /** Another number of servers match than the user has seen. */
  | { reason: 'other number' }
  /** The user is not a member of the organization to which the servers should move. */
  | { reason: 'not a member' }
  /** Another server has the slug of one of these servers in the place to which they should move. */
  | { reason: 'slugs taken'; slugs: string[] }

export function serverChanges(database: Database) {
  const { dialect } = database

  return {
    /**
     * Changes the servers in one transaction, all or none. A status needs membership in the
     * server's organization. A move needs it in the new one only, and a deletion in none. If this
     * id is known, returns that change.
     */
    changeServers: (
      userId: string,
      wanted: WantedChange,
      actor: Actor,
    ): Promise<ServerChange | Unchanged> =>
      act(database, actor, (transaction, note) =>
        change(transaction, dialect, userId, wanted, actor.at, note),
      ),

    /** A change of this user that is younger than UNDO_US. */
    async findChange(userId: string, id: string, now: Instant): Promise<ServerChange | null> {
      const kept = await findKept(database, userId, id, now)
      return kept === null ? null : toChange(kept)
    },

    /**
     * Makes each server again what it was before the change, with its id and instant. Leaves a
     * server as it is if it has changed since, if its former slug is taken, if the user is no
     * member of its former organization any more, or if the user has as many servers as before the
     * change and REGISTERED_MAX.
     * Undoing twice undoes once. Null if there is no such change.
     */
    undoChange: (userId: string, id: string, actor: Actor): Promise<ServerChange | null> =>
      act(database, actor, (transaction, note) =>
        undo(transaction, dialect, userId, id, actor.at, note),
      ),
  }
}

async function change(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  { id, becomes, servers: wanted }: WantedChange,
  now: Instant,
  note: Note,
): Promise<ServerChange | Unchanged> {
  await transaction.lock('users', [userId])
  const known = await findKept(transaction, userId, id, now)
  if (known !== null) return toChange(known)
  if (becomes !== null && 'organization_id' in becomes)
    if (!(await canRegisterIn(transaction, userId, becomes.organization_id)))
      return { reason: 'not a member' }
  const ids =
    'number' in wanted
      ? (await findMatching(transaction, dialect, userId, wanted))?.map((server) => server.id)
      : wanted
  if (ids === undefined) return { reason: 'other number' }
  const rows = await transaction.all<RegisteredRow>(sql`
    SELECT ${columnsOf(dialect)} FROM servers
    WHERE ${isOwn(userId)} AND id ${inUuids(ids)} AND ${mayBecome(becomes, userId)}
    ORDER BY servers.updated_at DESC, id DESC`)
  if (rows.length === 0) return { reason: 'not found' }
  const changing = rows.filter((row) => differs(row, becomes))
  if (becomes !== null && 'organization_id' in becomes) {
    const slugs = await findTaken(transaction, userId, changing, becomes.organization_id)
    if (slugs.length > 0) return { reason: 'slugs taken', slugs }
  }
  const changingIds = changing.map((row) => row.id)
  const action = actionOf(becomes)
  const made = await keepChange(transaction, userId, { id, action, changed_at: now }, async () => {
    const changes = changing.map((before) => ({
      before,
      after: becomes === null ? null : { ...before, ...becomes, updated_at: now },
    }))
    await writeServers(transaction, changes)
    return changes
  })
  if (changing.length > 0) note(action, userId, sayServers(changingIds))
  return made
}

/** A former member can take back or delete the servers that stay under the organization. */
const mayBecome = (becomes: Becomes, userId: string): Sql =>
  becomes !== null && 'status' in becomes
    ? sql`(servers.organization_id IS NULL OR ${isOfMember(userId)})`
    : sql`true`

function differs(row: RegisteredRow, becomes: Becomes): boolean {
  if (becomes === null) return true
  return 'status' in becomes
    ? row.status !== becomes.status
    : row.organization_id !== becomes.organization_id
}

function actionOf(becomes: Becomes): ChangeAction {
  if (becomes === null) return 'servers removed'
  if ('organization_id' in becomes) return 'servers moved'
  return becomes.status === 'published' ? 'servers published' : 'servers unpublished'
}

/** The slugs that the place would have twice. */
async function findTaken(
  transaction: Transaction,
  userId: string,
  moving: readonly RegisteredRow[],
  organizationId: string | null,
): Promise<string[]> {
  const slugs = moving.flatMap(({ slug }) => slug ?? [])
  const taken = await transaction.all<{ slug: string }>(sql`
    SELECT slug FROM servers WHERE ${isOwn(userId)} AND slug ${inStrings(slugs)}
      AND organization_id IS NOT DISTINCT FROM ${placeOf(organizationId)}`)
  const twice = slugs.filter((slug, position) => slugs.indexOf(slug) < position)
  return [...new Set([...taken.map(({ slug }) => slug), ...twice])]
}

async function undo(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  id: string,
  now: Instant,
  note: Note,
): Promise<ServerChange | null> {
  await transaction.lock('users', [userId])
  const kept = await findKept(transaction, userId, id, now)
  if (kept === null) return null
  if (kept.restored !== null) return toChange(kept)
  const restored = await undoServers(transaction, dialect, userId, kept)
  await transaction.run(
    sql`UPDATE server_changes SET restored = ${restored} WHERE id = ${uuid(id)}`,
  )
  const undone = toChange({ ...kept, restored })
  const ids = undone.changed.map((server) => server.id)
  if (restored > 0) note('servers restored', userId, `${restored} of ${sayServers(ids)}`)
  return undone
}
