import {
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
  rowsToRead,
  SEARCHED_MAX,
  type ServerPage,
  type ServerSearch,
  toPage,
} from '../server-search.ts'
import type { Database } from '../../database/database.ts'

export function serverSearch(database: Database) {
  return {
    /** The user's personal servers. */
    searchServers: (userId: string, asked: ServerSearch): Promise<ServerPage> =>
      search(database, isPersonal(userId), asked),

    /** All servers of an organization. Empty unless the user is a member. */
    searchOrganizationServers: (
      userId: string,
      organizationId: string,
      asked: ServerSearch,
    ): Promise<ServerPage> =>
      search(
        database,
        sql`organization_id = ${uuid(organizationId)} AND ${isMember(userId, organizationId)}`,
        asked,
      ),
  }
}

/** The newest servers within a scope, one page of those that match. */
async function search(database: Database, scope: Sql, asked: ServerSearch): Promise<ServerPage> {
  const { limit, offset } = rowsToRead(asked)
  const newest = (columns: Sql, count: number, skipped: number) => sql`
    SELECT ${columns} FROM servers WHERE ${scope}
    ORDER BY servers.updated_at DESC, servers.id DESC LIMIT ${count} OFFSET ${skipped}`
  // Without a match there is one row, which has only the counts.
  const rows = await database.all<FoundRow>(sql`
    SELECT ${ROW}, created_by, organization_id, updated_at, published, draft, other FROM (
      SELECT count(*) FILTER (WHERE status = 'published') AS published,
        count(*) FILTER (WHERE status = 'draft') AS draft,
        count(*) FILTER (WHERE status NOT IN ('published', 'draft')) AS other
      FROM (${newest(sql`status`, SEARCHED_MAX, 0)}) AS newest
    ) AS counts LEFT JOIN (
      ${newest(sql`${columnsOf(database.dialect)}, servers.updated_at AS stored_at`, limit, offset)}
    ) AS found ON true ORDER BY stored_at DESC, id DESC`)
  const { published, draft, other } = rows[0]!
  const servers = rows.flatMap((row, index) =>
    row.id === null ? [] : [{ ...toRegisteredServer(row), rank: offset + index + 1 }],
  )
  const counts = { published, draft, other }
  return toPage(
    servers,
    { counts, registered: await countIn(database, scope, countAll(counts)) },
    asked,
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

type FoundRow = RegisteredRow & ServerPage['counts']
