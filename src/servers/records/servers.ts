import type { Instant } from '../../model/instant.ts'
import {
  type RegisteredServer,
  fingerprintOf,
  REGISTERED_MAX,
  type ServerFields,
  type Written,
} from '../server.ts'
import { type ServerRow, toServer, type Server } from '../../model/server-row.ts'
import type { Dialect, Database, Queries, Transaction } from '../../database/database.ts'
import { raw, type Sql, sql, uuid, at } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { act } from '../../accounts/records/audit.ts'
import { isMember } from '../../organizations/records/organizations.ts'

/** The columns that an answer is made from. */
export const ROW = raw('id, name, slug, host_label, edition, status, version, listing_kind')

export const columnsOf = ({ instant }: Dialect): Sql =>
  sql`${ROW}, created_by, organization_id, ${instant('updated_at')}`

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
          AND EXISTS (SELECT 1 FROM users WHERE users.id = created_by AND disabled_at IS NULL)`)
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
     * `outdated`, or `written` if it already has the wanted ones.
     */
    updateServer: (
      userId: string,
      id: string,
      fields: ServerFields,
      actor: Actor,
      seen?: string,
    ): Promise<Written | 'outdated'> =>
      act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        const found = await findIn(transaction, isOwn(userId), id)
        if (found === null) return 'not found'
        if (seen !== undefined) {
          const stored = fingerprintOf(found)
          if (stored === fingerprintOf(fields)) return 'written'
          if (stored !== seen) return 'outdated'
        }
        const outcome = await update(transaction, userId, id, fields, actor.at)
        if (outcome === 'written') note('server changed', userId, id)
        return outcome
      }),
  }
}

export type RegisteredRow = ServerRow & {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

export function toRegisteredServer(row: RegisteredRow): RegisteredServer {
  const { created_by, organization_id, updated_at } = row
  return { ...toServer(row), created_by, organization_id, updated_at }
}

export const isOwn = (userId: string): Sql => sql`created_by = ${uuid(userId)}`

/** The user's servers outside every organization. */
export const isPersonal = (userId: string): Sql => sql`${isOwn(userId)} AND organization_id IS NULL`

/** The number of servers that the user registered, personally or under organizations. */
export async function countOwned(queries: Queries, userId: string): Promise<number> {
  const row = await queries.get<{ owned: number }>(
    sql`SELECT count(*) AS owned FROM servers WHERE ${isOwn(userId)}`,
  )
  return row!.owned
}

/** Whether the user is a member of the organization that a server is under. */
export const isOfMember = (userId: string): Sql => sql`EXISTS
  (SELECT 1 FROM members WHERE organization_id = servers.organization_id AND user_id = ${uuid(userId)})`

/** An organization, or null for the user's personal servers. */
export const placeOf = (organizationId: string | null): Sql =>
  organizationId === null ? sql`NULL` : sql`${uuid(organizationId)}`

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
  const { name, slug, address, edition, status, version, listing_kind, organization_id } = fields
  await transaction.run(sql`
    INSERT INTO servers (id, name, slug, host_label, edition, status, version, listing_kind,
      organization_id, created_by, updated_at)
    VALUES (${uuid(id)}, ${name}, ${slug}, ${address}, ${edition}, ${status}, ${version},
      ${listing_kind}, ${placeOf(organization_id)}, ${uuid(userId)}, ${at(now)})`)
  return 'written'
}

/** Under the user's lock. */
async function update(
  transaction: Transaction,
  userId: string,
  id: string,
  fields: ServerFields,
  now: Instant,
): Promise<Written> {
  const own = sql`${isOwn(userId)} AND id = ${uuid(id)}`
  if (!(await canRegisterIn(transaction, userId, fields.organization_id))) return 'not found'
  if (await isSlugTaken(transaction, userId, id, fields)) return 'slug taken'
  const { name, slug, address, edition, status, version, listing_kind, organization_id } = fields
  const changed = await transaction.run(sql`
    UPDATE servers SET name = ${name}, slug = ${slug}, host_label = ${address}, edition = ${edition},
      status = ${status}, version = ${version}, listing_kind = ${listing_kind},
      organization_id = ${placeOf(organization_id)}, updated_at = ${at(now)}
    WHERE ${own}`)
  return changed === 1 ? 'written' : 'not found'
}

/**
 * True for personal servers, and for an organization if the user is a member until the transaction
 * ends.
 */
export async function canRegisterIn(
  transaction: Transaction,
  userId: string,
  organizationId: string | null,
): Promise<boolean> {
  if (organizationId === null) return true
  await transaction.lock('organizations', [organizationId], 'keep')
  const member = await transaction.get(sql`SELECT 1 WHERE ${isMember(userId, organizationId)}`)
  return member !== null
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
