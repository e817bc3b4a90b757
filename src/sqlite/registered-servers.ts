import type { DatabaseSync } from 'node:sqlite'
import {
  PAGE_SIZE,
  REGISTERED_MAX,
  type RegisteredServer,
  type RegisteredServerStore,
  SEARCHED_MAX,
  type ServerPage,
  type ServerSearch,
} from '../listing/registered-server.ts'
import { SERVERS_MAX, type ServerRow, toServer } from '../listing/server.ts'
import { transact } from './database.ts'

const COLUMNS =
  'id, name, slug, host_label, edition, status, version, listing_kind, created_by, organization_id, updated_at'

const search = (scope: string) => `
  SELECT ${COLUMNS}, count(*) OVER () AS total FROM (
    SELECT * FROM servers WHERE ${scope} ORDER BY updated_at DESC, id DESC LIMIT ${SEARCHED_MAX}
  )
  WHERE :text = '' OR name LIKE :text ESCAPE '\\' OR host_label LIKE :text ESCAPE '\\' OR slug LIKE :text ESCAPE '\\'
  ORDER BY updated_at DESC, id DESC LIMIT ${PAGE_SIZE} OFFSET :offset
`

export function registeredServers(database: DatabaseSync): RegisteredServerStore {
  const personal = database.prepare(search('created_by = :user AND organization_id IS NULL'))
  const organizational = database.prepare(
    search(`organization_id = :organization
      AND EXISTS (SELECT 1 FROM members WHERE organization_id = :organization AND user_id = :user)`),
  )
  const find = database.prepare(`SELECT ${COLUMNS} FROM servers WHERE created_by = ? AND id = ?`)
  const findSeen = database.prepare(`
    SELECT ${COLUMNS} FROM servers WHERE id = ?2 AND (created_by = ?1
      OR EXISTS (SELECT 1 FROM members WHERE organization_id = servers.organization_id AND user_id = ?1))
  `)
  const known = database.prepare('SELECT 1 FROM servers WHERE id = ?')
  const oneTooMany = database.prepare(
    `SELECT 1 FROM servers WHERE created_by = ? LIMIT 1 OFFSET ${REGISTERED_MAX - 1}`,
  )
  const isMember = database.prepare(
    'SELECT 1 FROM members WHERE organization_id = ? AND user_id = ?',
  )
  const slugTaken = database.prepare(`
    SELECT 1 FROM servers WHERE created_by = ? AND slug = ? AND organization_id IS ? AND id <> ?
  `)
  const insert = database.prepare(`
    INSERT INTO servers (${COLUMNS}) VALUES
      (:id, :name, :slug, :address, :edition, :status, :version, :listing_kind, :user, :organization_id, :now)
  `)
  const update = database.prepare(`
    UPDATE servers SET name = :name, slug = :slug, host_label = :address, edition = :edition, status = :status,
      version = :version, listing_kind = :listing_kind, organization_id = :organization_id, updated_at = :now
    WHERE id = :id AND created_by = :user
  `)
  const setStatus = database.prepare(
    `UPDATE servers SET status = ?1, updated_at = ?2 WHERE created_by = ?3 AND id = ?4 AND (organization_id IS NULL
       OR EXISTS (SELECT 1 FROM members WHERE organization_id = servers.organization_id AND user_id = ?3))`,
  )
  const remove = database.prepare('DELETE FROM servers WHERE created_by = ? AND id = ?')
  const preview = database.prepare(`
    SELECT id, name, slug, host_label, edition, status, version, listing_kind FROM servers
    WHERE created_by = ? AND organization_id IS NULL ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}
  `)

  return {
    async searchServers(userId, asked) {
      return toPage(personal.all({ ...parameters(asked), user: userId }))
    },

    async searchOrganizationServers(userId, organizationId, asked) {
      const scope = { user: userId, organization: organizationId }
      return toPage(organizational.all({ ...parameters(asked), ...scope }))
    },

    async findServer(userId, id) {
      const row = find.get(userId, id)
      return row === undefined ? null : toRegisteredServer(row)
    },

    async findSeenServer(userId, id) {
      const row = findSeen.get(userId, id)
      return row === undefined ? null : toRegisteredServer(row)
    },

    async insertServer(userId, id, fields, now) {
      return transact(database, () => {
        if (known.get(id) !== undefined) return 'known'
        if (oneTooMany.get(userId) !== undefined) return 'too many'
        const { organization_id: place, slug } = fields
        if (place !== null && isMember.get(place, userId) === undefined) return 'not found'
        if (slug !== null && slugTaken.get(userId, slug, place, id) !== undefined)
          return 'slug taken'
        insert.run({ ...fields, id, user: userId, now })
        return 'written'
      })
    },

    async updateServer(userId, id, fields, now) {
      return transact(database, () => {
        const before = find.get(userId, id)
        if (before === undefined) return 'not found'
        const { organization_id: place, slug } = fields
        if (place !== null && isMember.get(place, userId) === undefined) return 'not found'
        if (slug !== null && slugTaken.get(userId, slug, place, id) !== undefined)
          return 'slug taken'
        update.run({ ...fields, id, user: userId, now })
        return 'written'
      })
    },

    async setServerStatus(userId, id, status, now) {
      return setStatus.run(status, now, userId, id).changes === 1
    },

    async removeServer(userId, id) {
      return remove.run(userId, id).changes === 1
    },

    async previewListing(userId) {
      return preview.all(userId) as unknown as ServerRow[]
    },
  }
}

function parameters({ text, page }: ServerSearch): { text: string; offset: number } {
  const escaped = text.replace(/[\\%_]/g, (character) => `\\${character}`)
  return { text: text === '' ? '' : `%${escaped}%`, offset: (page - 1) * PAGE_SIZE }
}

function toPage(rows: readonly object[]): ServerPage {
  const total = (rows[0] as { total: number } | undefined)?.total ?? 0
  return { servers: rows.map(toRegisteredServer), total }
}

function toRegisteredServer(row: object): RegisteredServer {
  const { created_by, organization_id, updated_at, ...server } = row as ServerRow & {
    created_by: string
    organization_id: string | null
    updated_at: number
  }
  return { ...toServer(server), created_by, organization_id, updated_at }
}
