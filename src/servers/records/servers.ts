import type { Instant } from '../../model/instant.ts'
import {
  type RegisteredServer,
  fingerprintOf,
  REGISTERED_MAX,
  type ServerFields,
  type Written,
} from '../server.ts'
import { type ServerRow, toServer, type Server } from '../../model/server-row.ts'
import type { Database, Dialect, Queries, Transaction } from '../../database/database.ts'
import { type Sql, sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act, type Note } from '../../accounts/records/audit.ts'
import { HAS_ACCESS } from '../../accounts/records/user-columns.ts'
import { findKept, keepChange } from './kept-changes.ts'
import {
  canRegisterIn,
  columnsOf,
  isOfMember,
  isOwn,
  placeOf,
  type RegisteredRow,
  ROW,
  toColumns,
  toRegisteredServer,
  writeServers,
} from './server-rows.ts'

export function servers(database: Database) {
  const find = (scope: Sql, id: string) => findIn(database, scope, id)

  async function findIn(
    queries: Queries,
    scope: Sql,
    id: string,
  ): Promise<RegisteredServer | null> {
    const row = await queries.get<RegisteredRow>(sql`
      SELECT ${columnsOf(database.dialect)} FROM servers WHERE ${scope} AND id = ${uuid(id)}`)
    return row === null ? null : toRegisteredServer(row)
  }

  return {
    /** A server that the user registered. */
    findServer: (userId: string, id: string): Promise<RegisteredServer | null> =>
      find(isOwn(userId), id),

    /** A server that the user registered, or that belongs to one of the user's organizations. */
    findVisibleServer: (userId: string, id: string): Promise<RegisteredServer | null> =>
      find(sql`(${isOwn(userId)} OR ${isOfMember(userId)})`, id),

    /**
     * A personal server whose status is `published`. Null for every other text, with the same
     * single lookup: an unknown or malformed id, another status, an organization's server.
     */
    async findPublishedServer(id: string): Promise<Server | null> {
      const row = await database.get<ServerRow>(sql`
        SELECT ${ROW} FROM servers
        WHERE id = ${uuid(id)} AND status = 'published' AND organization_id IS NULL
          AND EXISTS (SELECT 1 FROM users WHERE users.id = created_by AND ${HAS_ACCESS})`)
      return row === null ? null : toServer(row)
    },

    /**
     * `known` if this id exists, because a form was sent twice. `too many` beyond REGISTERED_MAX.
     * If several reasons apply, returns the first of `known`, `not found`, `too many`, `slug
     * taken`.
     */
    insertServer: (
      userId: string,
      id: string,
      fields: ServerFields,
      actor: Actor,
    ): Promise<Written | 'known' | 'too many'> =>
      act(database, actor, async (transaction, note) => {
        const outcome = await insert(transaction, userId, id, fields, actor.at)
        if (outcome === 'written') note('server registered', userId, id)
        return outcome
      }),

    /**
     * Can also move the server to one of the user's organizations, or back. With the fingerprint of
     * the fields that the user has seen, writes nothing if the server has other fields by now:
     * `outdated`, or `written` if it already has the wanted ones. With an id for the change, keeps
     * it, so that the user can undo it. If this id is known, `written`.
     */
    updateServer: (
      userId: string,
      id: string,
      fields: ServerFields,
      actor: Actor,
      seen?: string,
      change?: string,
    ): Promise<Written | 'outdated'> =>
      act(database, actor, (transaction, note) =>
        edit(transaction, database.dialect, userId, { id, fields, seen, change }, actor.at, note),
      ),
  }
}

/**
 * The user's lock lets each write see those before it: the limit and the slugs hold beside imports,
 * too.
 */
async function insert(
  transaction: Transaction,
  userId: string,
  id: string,
  fields: ServerFields,
  now: Instant,
): Promise<Written | 'known' | 'too many'> {
  await transaction.lock('users', [userId])
  const known = await transaction.get(sql`SELECT 1 FROM servers WHERE id = ${uuid(id)}`)
  if (known !== null) return 'known'
  if (!(await canRegisterIn(transaction, userId, fields.organization_id))) return 'not found'
  const last = await transaction.get(
    sql`SELECT 1 FROM servers WHERE ${isOwn(userId)} LIMIT 1 OFFSET ${REGISTERED_MAX - 1}`,
  )
  if (last !== null) return 'too many'
  if (await isSlugTaken(transaction, userId, id, fields)) return 'slug taken'
  const { organization_id } = fields
  const owned = { id, created_by: userId, organization_id, updated_at: now }
  await writeServers(transaction, [{ before: null, after: { ...toColumns(fields), ...owned } }])
  return 'written'
}

interface Edit {
  id: string
  fields: ServerFields
  seen: string | undefined
  change: string | undefined
}

async function edit(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  { id, fields, seen, change }: Edit,
  now: Instant,
  note: Note,
): Promise<Written | 'outdated'> {
  await transaction.lock('users', [userId])
  if (change !== undefined && (await findKept(transaction, userId, change, now)) !== null)
    return 'written'
  const row = await transaction.get<RegisteredRow>(sql`
    SELECT ${columnsOf(dialect)} FROM servers WHERE ${isOwn(userId)} AND id = ${uuid(id)}`)
  if (row === null) return 'not found'
  const stored = fingerprintOf(toRegisteredServer(row))
  const isSame = seen !== undefined && stored === fingerprintOf(fields)
  if (!isSame) {
    if (seen !== undefined && stored !== seen) return 'outdated'
    if (!(await canRegisterIn(transaction, userId, fields.organization_id))) return 'not found'
    if (await isSlugTaken(transaction, userId, id, fields)) return 'slug taken'
  }
  const write = async () => {
    if (isSame) return []
    const { organization_id } = fields
    const after = { ...row, ...toColumns(fields), organization_id, updated_at: now }
    const changes = [{ before: row, after }]
    await writeServers(transaction, changes)
    return changes
  }
  if (change === undefined) await write()
  else {
    const kept = { id: change, action: 'server changed', changed_at: now } as const
    await keepChange(transaction, userId, kept, write)
  }
  if (!isSame) note('server changed', userId, id)
  return 'written'
}

async function isSlugTaken(
  queries: Queries,
  userId: string,
  id: string,
  { organization_id, slug }: ServerFields,
): Promise<boolean> {
  if (slug === null) return false
  const taken = await queries.get(sql`
    SELECT 1 FROM servers WHERE ${isOwn(userId)} AND slug = ${slug}
      AND organization_id IS NOT DISTINCT FROM ${placeOf(organization_id)} AND id <> ${uuid(id)} LIMIT 1`)
  return taken !== null
}
