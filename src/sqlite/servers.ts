import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { presentInstant } from '../listing/instant.ts'
import { type ServerRow, toServer } from '../listing/server.ts'
import { ENTRY_DEFAULTS } from '../listing/server-entry.ts'
import type { Store } from '../listing/store.ts'
import { transact } from './database.ts'

const COLUMNS = `id, created_by, organization_id, name, slug, host_label, edition, status, version, listing_kind, updated_at`

export function servers(
  database: DatabaseSync,
): Pick<Store, 'ensureOrganization' | 'saveServers' | 'listServers'> {
  const ensure = database.prepare(`
    INSERT INTO organizations (id, slug, name) VALUES (?1, ?2, ?2) ON CONFLICT (slug) DO NOTHING
  `)
  const join = database.prepare(`
    INSERT INTO members (organization_id, user_id, joined_at, role) SELECT ?1, ?2, ?3,
      CASE WHEN EXISTS (SELECT 1 FROM members WHERE organization_id = ?1) THEN 'member' ELSE 'owner' END
    ON CONFLICT DO NOTHING
  `)
  const findOrganization = database.prepare('SELECT id FROM organizations WHERE slug = ?')
  const findBySlug = database.prepare(`
    SELECT ${COLUMNS} FROM servers WHERE created_by = ? AND slug = ? AND organization_id IS ? LIMIT 1
  `)
  const findByAddress = database.prepare(`
    SELECT ${COLUMNS} FROM servers WHERE created_by = ? AND host_label = ? AND organization_id IS ? LIMIT 1
  `)
  const upsert = database.prepare(`
    INSERT INTO servers (${COLUMNS}) VALUES
      (:id, :created_by, :organization_id, :name, :slug, :host_label, :edition, :status, :version, :listing_kind,
        :updated_at)
    ON CONFLICT (id) DO UPDATE SET
      name = excluded.name, slug = excluded.slug, host_label = excluded.host_label, edition = excluded.edition,
      status = excluded.status, version = excluded.version, listing_kind = excluded.listing_kind,
      updated_at = excluded.updated_at
  `)
  const list = database.prepare(`
    SELECT servers.id, servers.name, servers.slug, host_label, edition, status, version, listing_kind,
      organizations.slug AS organization, updated_at
    FROM servers LEFT JOIN organizations ON organizations.id = organization_id
    WHERE created_by = ? ORDER BY updated_at DESC, servers.id DESC
  `)

  return {
    async ensureOrganization(slug, userId) {
      return transact(database, () => {
        ensure.run(randomUUID(), slug)
        const id = findOrganization.get(slug)?.id as string
        join.run(id, userId, presentInstant())
        return id
      })
    },

    async saveServers(userId, organizationId, entries, now) {
      return transact(database, () => {
        let added = 0
        for (const { address, ...given } of entries) {
          const known = given.slug
            ? findBySlug.get(userId, given.slug, organizationId)
            : findByAddress.get(userId, address, organizationId)
          if (known === undefined) added += 1
          const before = known ?? {
            ...ENTRY_DEFAULTS,
            id: randomUUID(),
            created_by: userId,
            organization_id: organizationId,
            slug: null,
            version: null,
            listing_kind: null,
          }
          upsert.run({ ...before, updated_at: now, ...given, host_label: address })
        }
        return { added, updated: entries.length - added }
      })
    },

    async listServers(userId) {
      const rows = list.all(userId) as unknown as (ServerRow & ListedColumns)[]
      return rows.map(({ organization, updated_at, ...row }) => ({
        ...toServer(row),
        organization,
        updated_at,
      }))
    },
  }
}

interface ListedColumns {
  organization: string | null
  updated_at: number
}
