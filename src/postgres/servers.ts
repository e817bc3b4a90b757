import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { type ServerRow, toServer } from '../listing/server.ts'
import { ENTRY_DEFAULTS, type ServerEntry } from '../listing/server-entry.ts'
import type { Store } from '../listing/store.ts'
import type { Database } from './database.ts'
import { microsecondsOf, timestampOf, toInstant } from './instants.ts'

export function servers(
  database: Database,
): Pick<Store, 'ensureOrganization' | 'saveServers' | 'listServers'> {
  return {
    async ensureOrganization(slug, userId) {
      return database.transact(async (client) => {
        await client.query(
          'INSERT INTO organizations (id, slug, name) VALUES ($1, $2, $2) ON CONFLICT (slug) DO NOTHING',
          [randomUUID(), slug],
        )
        const { rows } = await client.query<{ id: string }>(
          'SELECT id FROM organizations WHERE slug = $1',
          [slug],
        )
        const { id } = rows[0]!
        await client.query(
          `INSERT INTO members (organization_id, user_id, joined_at, role) SELECT $1, $2, now(),
             CASE WHEN EXISTS (SELECT FROM members WHERE organization_id = $1) THEN 'member' ELSE 'owner' END
           ON CONFLICT DO NOTHING`,
          [id, userId],
        )
        return id
      })
    },

    async saveServers(userId, organizationId, entries, now) {
      return database.transact(async (client) => {
        // One after the other on the server, but without a wait between them: each sees what the ones before wrote.
        const saves = entries.map((entry) => save(client, userId, organizationId, entry, now))
        const results = await Promise.allSettled(saves)
        const failed = results.find((result) => result.status === 'rejected')
        if (failed !== undefined) throw failed.reason
        const added = results.filter(
          (result) => result.status === 'fulfilled' && result.value,
        ).length
        return { added, updated: entries.length - added }
      })
    },

    async listServers(userId) {
      const rows = await database.query<
        ServerRow & { organization: string | null; updated_at: string }
      >(
        `SELECT servers.id, servers.name, servers.slug, host_label, edition, status, version, listing_kind,
           organizations.slug AS organization, ${microsecondsOf('servers.updated_at')}
         FROM servers LEFT JOIN organizations ON organizations.id = organization_id
         WHERE created_by = $1 ORDER BY servers.updated_at DESC, servers.id DESC`,
        [userId],
      )
      return rows.map(({ organization, updated_at, ...row }) => ({
        ...toServer(row),
        organization,
        updated_at: toInstant(updated_at),
      }))
    },
  }
}

const NAMED = (column: string) =>
  `CASE WHEN $4::jsonb ? '${column}' THEN $4->>'${column}' ELSE servers.${column} END`

/** What an entry does not name keeps its value, or gets the default in a new server. */
const saveBy = (column: 'slug' | 'host_label', field: 'slug' | 'address') => `
  WITH known AS (
    SELECT id FROM servers
    WHERE created_by = $1 AND ${column} = $4::jsonb->>'${field}' AND organization_id IS NOT DISTINCT FROM $2
    LIMIT 1
  ), changed AS (
    UPDATE servers SET name = $4->>'name', host_label = $4->>'address', slug = ${NAMED('slug')},
      edition = ${NAMED('edition')}, status = ${NAMED('status')}, version = ${NAMED('version')},
      listing_kind = ${NAMED('listing_kind')}, updated_at = ${timestampOf('$5')}
    FROM known WHERE servers.id = known.id
  )
  INSERT INTO servers
    (id, created_by, organization_id, name, slug, host_label, edition, status, version, listing_kind, updated_at)
  SELECT $3, $1, $2, $4->>'name', $4->>'slug', $4->>'address', coalesce($4->>'edition', '${ENTRY_DEFAULTS.edition}'),
    coalesce($4->>'status', '${ENTRY_DEFAULTS.status}'), $4->>'version', $4->>'listing_kind', ${timestampOf('$5')}
  WHERE NOT EXISTS (SELECT FROM known)
  RETURNING id
`
const SAVE_BY_SLUG = saveBy('slug', 'slug')
const SAVE_BY_ADDRESS = saveBy('host_label', 'address')

/** True if the entry became a new server. */
async function save(
  client: ClientBase,
  userId: string,
  organizationId: string | null,
  entry: ServerEntry,
  now: number,
): Promise<boolean> {
  const statement = entry.slug
    ? { name: 'save-by-slug', text: SAVE_BY_SLUG }
    : { name: 'save-by-address', text: SAVE_BY_ADDRESS }
  const values = [
    userId,
    organizationId,
    randomUUID(),
    JSON.stringify(entry),
    entry.updated_at ?? now,
  ]
  const { rowCount } = await client.query({ ...statement, values })
  return rowCount === 1
}
