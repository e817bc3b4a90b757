import type { Instant } from '../../listing/instant.ts'
import type {
  RegisteredServer,
  RegisteredServerStore,
} from '../../listing/servers/registered-server.ts'
import {
  rowsToRead,
  SEARCHED_MAX,
  type ServerPage,
  type ServerSearch,
  type ServerSearchStore,
  toPage,
} from '../../listing/servers/server-search.ts'
import { SERVERS_MAX, type ServerRow, toServer } from '../../listing/servers/server.ts'
import type { ServerImportStore } from '../../listing/servers/server-import.ts'
import type { Database, Dialect } from '../database.ts'
import { isMember } from '../organizations.ts'
import { raw, type Sql, sql, uuid } from '../sql.ts'

/** The columns that an answer is made from. */
export const ROW = raw('id, name, slug, host_label, edition, status, version, listing_kind')

export const columnsOf = ({ instant }: Dialect): Sql =>
  sql`${ROW}, created_by, organization_id, ${instant('updated_at')}`

export function serverLists(
  database: Database,
): Pick<
  RegisteredServerStore & ServerSearchStore & ServerImportStore,
  'searchServers' | 'searchOrganizationServers' | 'previewListing' | 'listServers'
> {
  const { dialect } = database

  /** The newest servers within a scope, one page of those that match. */
  async function search(scope: Sql, asked: ServerSearch): Promise<ServerPage> {
    const { limit, offset } = rowsToRead(asked)
    // Without a match there is one row, which has only the counts.
    const rows = await database.all<FoundRow>(sql`
      WITH newest AS (
        SELECT *, row_number() OVER (ORDER BY updated_at DESC, id DESC) AS rank FROM (
          SELECT * FROM servers WHERE ${scope}
          ORDER BY updated_at DESC, id DESC LIMIT ${SEARCHED_MAX}
        ) AS latest
      )
      SELECT found.*, published, draft, other FROM (
        SELECT count(*) FILTER (WHERE status = 'published') AS published,
          count(*) FILTER (WHERE status = 'draft') AS draft,
          count(*) FILTER (WHERE status NOT IN ('published', 'draft')) AS other
        FROM newest
      ) AS counts LEFT JOIN (
        SELECT ${columnsOf(dialect)}, rank FROM newest ORDER BY rank LIMIT ${limit} OFFSET ${offset}
      ) AS found ON true ORDER BY rank`)
    const { published, draft, other } = rows[0]!
    const servers = rows.flatMap((row) =>
      row.id === null ? [] : [{ ...toRegisteredServer(row), rank: row.rank }],
    )
    return toPage(servers, { published, draft, other }, asked)
  }

  return {
    searchServers: (userId, asked) => search(ownPersonal(userId), asked),

    searchOrganizationServers: (userId, organizationId, asked) =>
      search(
        sql`organization_id = ${uuid(organizationId)} AND ${isMember(userId, organizationId)}`,
        asked,
      ),

    async previewListing(userId) {
      return database.all<ServerRow>(sql`
        SELECT ${ROW} FROM servers WHERE ${ownPersonal(userId)}
        ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}`)
    },

    async listServers(userId) {
      const rows = await database.all<RegisteredRow & { organization: string | null }>(sql`
        SELECT servers.id, servers.name, servers.slug, host_label, edition, status, version,
          listing_kind, organizations.slug AS organization, ${dialect.instant('servers.updated_at')}
        FROM servers LEFT JOIN organizations ON organizations.id = organization_id
        WHERE created_by = ${uuid(userId)} ORDER BY servers.updated_at DESC, servers.id DESC`)
      return rows.map((row) => {
        const { organization, updated_at } = row
        return { ...toServer(row), organization, updated_at }
      })
    },
  }
}

const ownPersonal = (userId: string): Sql =>
  sql`created_by = ${uuid(userId)} AND organization_id IS NULL`

type FoundRow = RegisteredRow & { rank: number } & ServerPage['counts']

export type RegisteredRow = ServerRow & {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

export function toRegisteredServer(row: RegisteredRow): RegisteredServer {
  const { created_by, organization_id, updated_at } = row
  return { ...toServer(row), created_by, organization_id, updated_at }
}
