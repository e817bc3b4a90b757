import { fieldsOf, isPersonal, OWN, type RegisteredRow, ROW } from './server-rows.ts'
import { SERVERS_MAX, type ServerRow } from '../../model/server-row.ts'
import {
  OWNED_SERVERS_MAX,
  SERVERS_PART_MAX,
  type OwnedServer,
  type ServerRecord,
  type ServerScope,
} from '../server.ts'
import type { Database, Dialect } from '../../database/database.ts'
import { type Sql, sql, uuid } from '../../database/sql.ts'

/** A user's servers as the API, an exported file and the commands give them out. */
export function serverExports(database: Database) {
  const { dialect } = database

  /** An index has the personal servers in this order. */
  const ofUser = (userId: string, scope: ServerScope) => sql`
    SELECT ${recordOf(dialect)}
    FROM servers LEFT JOIN organizations ON organizations.id = organization_id
    WHERE ${scope === 'all' ? sql`created_by = ${uuid(userId)}` : isPersonal(userId)}
    ORDER BY servers.updated_at DESC, servers.id DESC`

  return {
    /** The rows that the API would return for this user's key now (spec 4.1). */
    async previewListing(userId: string): Promise<ServerRow[]> {
      return database.all<ServerRow>(sql`
        SELECT ${ROW} FROM servers WHERE ${isPersonal(userId)}
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

const isAfter = ({ created_by, address, id }: Pick<OwnedServer, 'created_by' | 'address' | 'id'>) =>
  sql`(created_by, host_label, id) > (${uuid(created_by)}, ${address}, ${uuid(id)})`

/** The columns of a record. The table of organizations has names of its own. */
const recordOf = ({ instant }: Dialect): Sql =>
  sql`${OWN}, organizations.slug AS organization, ${instant('servers.updated_at')}`

type RecordRow = RegisteredRow & { organization: string | null }
type OwnerColumns = Pick<OwnedServer, 'created_by' | 'email' | 'external_id'>

function toRecord(row: RecordRow): ServerRecord {
  const { organization, updated_at } = row
  return { ...fieldsOf(row), organization, updated_at }
}
