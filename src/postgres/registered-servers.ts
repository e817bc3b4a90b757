import type { ClientBase } from 'pg'
import {
  PAGE_SIZE,
  REGISTERED_MAX,
  type RegisteredServer,
  type RegisteredServerStore,
  SEARCHED_MAX,
  type ServerFields,
  type ServerPage,
  type ServerSearch,
  type Written,
} from '../listing/registered-server.ts'
import { SERVERS_MAX, type ServerRow, toServer } from '../listing/server.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'
import { isUuid } from './uuid.ts'

const ROW = 'id, name, slug, host_label, edition, status, version, listing_kind'
const COLUMNS = `${ROW}, created_by, organization_id, ${microsecondsOf('updated_at')}`

const search = (scope: string) => `
  SELECT ${COLUMNS}, (count(*) OVER ())::int AS total FROM (
    SELECT * FROM servers WHERE ${scope} ORDER BY updated_at DESC, id DESC LIMIT ${SEARCHED_MAX}
  ) AS newest
  WHERE $1 = '' OR name ILIKE $1 OR host_label ILIKE $1 OR slug ILIKE $1
  ORDER BY newest.updated_at DESC, id DESC LIMIT ${PAGE_SIZE} OFFSET $2
`
const PERSONAL = search('created_by = $3 AND organization_id IS NULL')
const ORGANIZATIONAL = search(`organization_id = $4
  AND EXISTS (SELECT FROM members WHERE organization_id = $4 AND user_id = $3)`)

const ONE_TOO_MANY = `SELECT FROM servers WHERE created_by = $1 LIMIT 1 OFFSET ${REGISTERED_MAX - 1}`

export function registeredServers(database: Database): RegisteredServerStore {
  return {
    async searchServers(userId, asked) {
      return toPage(await database.query(PERSONAL, [...parameters(asked), userId]))
    },

    async searchOrganizationServers(userId, organizationId, asked) {
      if (!isUuid(organizationId)) return { servers: [], total: 0 }
      const values = [...parameters(asked), userId, organizationId]
      return toPage(await database.query(ORGANIZATIONAL, values))
    },

    async findServer(userId, id) {
      const row = isUuid(id) ? await find(database, userId, id) : null
      return row === null ? null : toRegisteredServer(row)
    },

    async findSeenServer(userId, id) {
      const row = isUuid(id) ? await find(database, userId, id, SEEN) : null
      return row === null ? null : toRegisteredServer(row)
    },

    async insertServer(userId, id, fields, now) {
      return database.transact(async (client) => {
        const refused = await checkPlace(client, userId, id, fields)
        const known = await client.query('SELECT FROM servers WHERE id = $1', [id])
        if (known.rowCount === 1) return 'known'
        if (refused !== null) return refused
        const last = await client.query(ONE_TOO_MANY, [userId])
        if (last.rowCount === 1) return 'too many'
        await client.query(
          `INSERT INTO servers (${ROW}, organization_id, created_by, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${timestampOf('$11')})`,
          valuesOf(userId, id, fields, now),
        )
        return 'written' as const
      })
    },

    async updateServer(userId, id, fields, now) {
      if (!isUuid(id)) return 'not found'
      return database.transact(async (client): Promise<Written> => {
        const before = await find(queriesOf(client), userId, id)
        if (before === null) return 'not found'
        const refused = await checkPlace(client, userId, id, fields)
        if (refused !== null) return refused
        const { rowCount } = await client.query(
          `UPDATE servers SET name = $2, slug = $3, host_label = $4, edition = $5, status = $6, version = $7,
             listing_kind = $8, organization_id = $9, updated_at = ${timestampOf('$11')}
           WHERE id = $1 AND created_by = $10`,
          valuesOf(userId, id, fields, now),
        )
        return rowCount === 1 ? 'written' : 'not found'
      })
    },

    async setServerStatus(userId, id, status, now) {
      if (!isUuid(id)) return false
      const changed = await database.query(
        `UPDATE servers SET status = $1, updated_at = ${timestampOf('$2')}
         WHERE created_by = $3 AND id = $4 AND (organization_id IS NULL
           OR EXISTS (SELECT FROM members WHERE organization_id = servers.organization_id AND user_id = $3))
         RETURNING id`,
        [status, now, userId, id],
      )
      return changed.length === 1
    },

    async removeServer(userId, id) {
      if (!isUuid(id)) return false
      const removed = await database.query(
        'DELETE FROM servers WHERE created_by = $1 AND id = $2 RETURNING id',
        [userId, id],
      )
      return removed.length === 1
    },

    async previewListing(userId) {
      return database.query<ServerRow>(
        `SELECT ${ROW} FROM servers WHERE created_by = $1 AND organization_id IS NULL
         ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}`,
        [userId],
      )
    },
  }
}

const OWN = 'created_by = $1'
const SEEN = `(${OWN} OR EXISTS
  (SELECT FROM members WHERE organization_id = servers.organization_id AND user_id = $1))`

async function find(client: Queries, userId: string, id: string, scope = OWN) {
  const text = `SELECT ${COLUMNS} FROM servers WHERE ${scope} AND id = $2`
  const rows = await client.query<ListedRow>(text, [userId, id])
  return rows[0] ?? null
}

type Queries = Pick<Database, 'query'>

function queriesOf(client: ClientBase): Queries {
  return {
    query: async <Row>(text: string, values?: unknown[]) =>
      (await client.query(text, values)).rows as Row[],
  }
}

/** Why the server cannot be put there, or null. The user's other writes wait until the transaction ends. */
async function checkPlace(
  client: ClientBase,
  userId: string,
  id: string,
  { organization_id: place, slug }: ServerFields,
): Promise<'not found' | 'slug taken' | null> {
  await client.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId])
  if (place !== null) {
    if (!isUuid(place)) return 'not found'
    const member = await client.query(
      'SELECT FROM members WHERE organization_id = $1 AND user_id = $2 FOR SHARE',
      [place, userId],
    )
    if (member.rowCount === 0) return 'not found'
  }
  if (slug === null) return null
  const taken = await client.query(
    `SELECT FROM servers
     WHERE created_by = $1 AND slug = $2 AND organization_id IS NOT DISTINCT FROM $3 AND id <> $4 LIMIT 1`,
    [userId, slug, place, id],
  )
  return taken.rowCount === 0 ? null : 'slug taken'
}

function valuesOf(userId: string, id: string, fields: ServerFields, now: number): unknown[] {
  const { name, slug, address, edition, status, version, listing_kind, organization_id } = fields
  return [
    id,
    name,
    slug,
    address,
    edition,
    status,
    version,
    listing_kind,
    organization_id,
    userId,
    now,
  ]
}

function parameters({ text, page }: ServerSearch): unknown[] {
  const escaped = text.replace(/[\\%_]/g, (character) => `\\${character}`)
  return [text === '' ? '' : `%${escaped}%`, (page - 1) * PAGE_SIZE]
}

type ListedRow = ServerRow & {
  created_by: string
  organization_id: string | null
  updated_at: string
}

function toPage(rows: readonly (ListedRow & { total: number })[]): ServerPage {
  return { servers: rows.map(toRegisteredServer), total: rows[0]?.total ?? 0 }
}

function toRegisteredServer(row: ListedRow): RegisteredServer {
  const { created_by, organization_id, updated_at, ...server } = row
  return { ...toServer(server), created_by, organization_id, updated_at: toInstant(updated_at) }
}
