import {
  isOwn,
  isPersonal,
  ROW,
  columnsOf,
  type RegisteredRow,
  toRegisteredServer,
} from './server-rows.ts'
import { isMember } from '../../organizations/records/organizations.ts'
import { uuid, type Sql, sql } from '../../database/sql.ts'
import { setImmediate as otherWork } from 'node:timers/promises'
import {
  countAll,
  type Matching,
  filter,
  rowsToRead,
  SEARCHED_MAX,
  type ServerPage,
  type ServerSearch,
  toPage,
} from '../server-search.ts'
import type { RegisteredServer } from '../server.ts'
import type { Database, Dialect, Queries } from '../../database/database.ts'

export function serverSearch(database: Database) {
  return {
    /** The user's personal servers. */
    searchServers: (userId: string, asked: ServerSearch): Promise<ServerPage> =>
      search(database, userId, scopeOf(userId, null), asked),

    /** All servers of an organization. Empty unless the user is a member. */
    searchOrganizationServers: (
      userId: string,
      organizationId: string,
      asked: ServerSearch,
    ): Promise<ServerPage> => search(database, userId, scopeOf(userId, organizationId), asked),

    /** See `findMatching`. */
    findMatching: (userId: string, matching: Matching): Promise<RegisteredServer[] | null> =>
      findMatching(database, database.dialect, userId, matching),
  }
}

const scopeOf = (userId: string, organizationId: string | null): Sql =>
  organizationId === null
    ? isPersonal(userId)
    : sql`organization_id = ${uuid(organizationId)} AND ${isMember(userId, organizationId)}`

/** Newest first. Null if another number of servers match than the user has seen. */
export async function findMatching(
  queries: Queries,
  dialect: Dialect,
  userId: string,
  matching: Matching,
): Promise<RegisteredServer[] | null> {
  const rows = await queries.all<RegisteredRow>(sql`
    SELECT ${columnsOf(dialect)} FROM servers WHERE ${scopeOf(userId, matching.organization_id)}
    ORDER BY servers.updated_at DESC, servers.id DESC LIMIT ${SEARCHED_MAX}`)
  const found = filter(rows.map(toRegisteredServer), matching)
  const own = found.filter((server) => server.created_by === userId)
  return own.length === matching.number ? own : null
}

/** The newest servers within a scope, one page of those that match. */
async function search(
  database: Database,
  userId: string,
  scope: Sql,
  asked: ServerSearch,
): Promise<ServerPage> {
  const { limit, offset } = rowsToRead(asked)
  const newest = (columns: Sql, count: number, skipped: number) => sql`
    SELECT ${columns} FROM servers WHERE ${scope}
    ORDER BY servers.updated_at DESC, servers.id DESC LIMIT ${count} OFFSET ${skipped}`
  // Without a match there is one row, which has only the counts.
  const rows = await database.all<FoundRow>(sql`
    SELECT ${ROW}, created_by, organization_id, updated_at, published, draft, other, own FROM (
      SELECT count(*) FILTER (WHERE status = 'published') AS published,
        count(*) FILTER (WHERE status = 'draft') AS draft,
        count(*) FILTER (WHERE status NOT IN ('published', 'draft')) AS other,
        count(*) FILTER (WHERE ${isOwn(userId)}) AS own
      FROM (${newest(sql`status, created_by`, SEARCHED_MAX, 0)}) AS newest
    ) AS counts LEFT JOIN (
      ${newest(sql`${columnsOf(database.dialect)}, servers.updated_at AS stored_at`, limit, offset)}
    ) AS found ON true ORDER BY stored_at DESC, id DESC`)
  const { published, draft, other, own } = rows[0]!
  const servers = rows.flatMap((row, index) =>
    row.id === null ? [] : [{ ...toRegisteredServer(row), rank: offset + index + 1 }],
  )
  const counts = { published, draft, other }
  return toPage(
    servers,
    { counts, own, registered: await countIn(database, scope, countAll(counts)) },
    asked,
    userId,
  )
}

/** Only a scope with more servers than a search reads has to be counted. */
async function countIn(database: Database, scope: Sql, found: number): Promise<number> {
  if (found < SEARCHED_MAX) return found
  // The search has filled a turn of the event loop.
  await otherWork()
  const row = await database.get<{ servers: number }>(
    sql`SELECT count(*) AS servers FROM servers WHERE ${scope}`,
  )
  return row!.servers
}

type FoundRow = RegisteredRow & ServerPage['counts'] & { own: number }
