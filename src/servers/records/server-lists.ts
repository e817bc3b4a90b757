import { setImmediate as otherWork } from 'node:timers/promises'
import type { Instant } from '../../model/instant.ts'
import type { RegisteredServer } from '../registered-server.ts'
import {
  countAll,
  rowsToRead,
  SEARCHED_MAX,
  type ServerPage,
  type ServerSearch,
  toPage,
} from '../server-search.ts'
import { SERVERS_MAX, type ServerRow, toServer } from '../../model/server-row.ts'
import {
  OWNED_SERVERS_MAX,
  SERVERS_PART_MAX,
  type OwnedServer,
  type ServerRecord,
  type ServerScope,
} from '../server-import.ts'
import type { Database, Dialect } from '../../database/database.ts'
import { isMember } from '../../organizations/records/organizations.ts'
import { raw, type Sql, sql, uuid } from '../../database/sql.ts'

/** The columns that an answer is made from. */
export const ROW = raw('id, name, slug, host_label, edition, status, version, listing_kind')

export const columnsOf = ({ instant }: Dialect): Sql =>
  sql`${ROW}, created_by, organization_id, ${instant('updated_at')}`

export function serverLists(database: Database) {
  const { dialect } = database

  /** An index has the personal servers in this order. */
  const ofUser = (userId: string, scope: ServerScope) => sql`
    SELECT ${recordOf(dialect)}
    FROM servers LEFT JOIN organizations ON organizations.id = organization_id
    WHERE ${scope === 'all' ? sql`created_by = ${uuid(userId)}` : ownPersonal(userId)}
    ORDER BY servers.updated_at DESC, servers.id DESC`

  return {
    /** The user's personal servers. */
    searchServers: (userId: string, asked: ServerSearch): Promise<ServerPage> =>
      search(database, ownPersonal(userId), asked),

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

    /** The rows that the API would return for this user's key now (spec 4.1). */
    async previewListing(userId: string): Promise<ServerRow[]> {
      return database.all<ServerRow>(sql`
        SELECT ${ROW} FROM servers WHERE ${ownPersonal(userId)}
        ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}`)
    },

    /**
     * All servers that the user registered, including those in organizations. Newest `updated_at`
     * first, then by id descending.
     */
    async listServers(userId: string): Promise<ServerRecord[]> {
      return (await database.all<RecordRow>(ofUser(userId, 'all'))).map(toRecord)
    },

    /**
     * The same servers or only the personal ones, in parts of at most SERVERS_PART_MAX. All are as
     * they were at one moment. Other work of this process runs between two parts.
     */
    readServers: (
      userId: string,
      scope: ServerScope,
      onPart: (servers: ServerRecord[]) => void,
    ): Promise<void> =>
      database.readParts(ofUser(userId, scope), SERVERS_PART_MAX, (rows) =>
        onPart((rows as RecordRow[]).map(toRecord)),
      ),

    /**
     * The servers of all users, at most OWNED_SERVERS_MAX after a given one, by the owner's id,
     * then by address and id. A caller who asks again after the last server sees each server once
     * whose address does not change meanwhile.
     */
    async listOwnedServers(
      after: Pick<OwnedServer, 'created_by' | 'address' | 'id'> | null,
    ): Promise<OwnedServer[]> {
      const isNext = after === null ? sql`true` : isAfter(after)
      // The subquery follows an index, which bounds the work for one page.
      const rows = await database.all<RecordRow & OwnerColumns>(sql`
        SELECT ${recordOf(dialect)}, servers.created_by, users.email, users.external_id FROM (
          SELECT * FROM servers WHERE ${isNext}
          ORDER BY created_by, host_label, id LIMIT ${OWNED_SERVERS_MAX}
        ) AS servers JOIN users ON users.id = servers.created_by
        LEFT JOIN organizations ON organizations.id = organization_id
        ORDER BY servers.created_by, host_label, servers.id`)
      return rows.map((row) => {
        const { created_by, email, external_id } = row
        return { ...toRecord(row), created_by, email, external_id }
      })
    },
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

const isAfter = ({ created_by, address, id }: Pick<OwnedServer, 'created_by' | 'address' | 'id'>) =>
  sql`(created_by, host_label, id) > (${uuid(created_by)}, ${address}, ${uuid(id)})`

/** The columns of a record. The table of organizations has names of its own. */
const recordOf = ({
  instant,
}: Dialect): Sql => sql`servers.id, servers.name, servers.slug, host_label,
  edition, status, version, listing_kind, organizations.slug AS organization,
  ${instant('servers.updated_at')}`

type RecordRow = RegisteredRow & { organization: string | null }
type OwnerColumns = Pick<OwnedServer, 'created_by' | 'email' | 'external_id'>

function toRecord(row: RecordRow): ServerRecord {
  const { organization, updated_at } = row
  return { ...toServer(row), organization, updated_at }
}

const ownPersonal = (userId: string): Sql =>
  sql`created_by = ${uuid(userId)} AND organization_id IS NULL`

type FoundRow = RegisteredRow & ServerPage['counts']

export type RegisteredRow = ServerRow & {
  created_by: string
  organization_id: string | null
  updated_at: Instant
}

export function toRegisteredServer(row: RegisteredRow): RegisteredServer {
  const { created_by, organization_id, updated_at } = row
  return { ...toServer(row), created_by, organization_id, updated_at }
}
