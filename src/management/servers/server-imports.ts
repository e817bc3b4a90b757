import type { ServerEntry } from '../../listing/servers/server-entry.ts'
import type { ServerImportStore } from '../../listing/servers/server-import.ts'
import type { Database, Dialect, Queries, Transaction } from '../database.ts'
import { type ChangedServer, type ImportedRow, planImport } from './import-plan.ts'
import { createOrderedIds } from './ordered-ids.ts'
import { placeOf } from './registered-servers.ts'
import { ROW } from './server-lists.ts'
import { type Sql, sql, strings, uuid, uuids } from '../sql.ts'

export function serverImports(
  database: Database,
): Pick<ServerImportStore, 'saveServers' | 'previewServers' | 'removeServers'> {
  const { dialect } = database

  return {
    async saveServers(userId, organizationId, entries, now) {
      return database.transact(async (transaction) => {
        // Makes other imports and forms of this user wait. Without the lock they would not see the
        // new rows.
        await transaction.lock('users', [userId])
        const makeId = createOrderedIds()
        let added = 0
        for (let start = 0; start < entries.length; start += dialect.plannedMax) {
          const part = entries.slice(start, start + dialect.plannedMax)
          const stored = await findStored(transaction, dialect, userId, organizationId, part)
          const plan = planImport(stored, part, now, makeId)
          const touched = plan.unchanged.filter(
            (one) => one.row.updated_at !== one.stored.updated_at,
          )
          await insertRows(transaction, userId, organizationId, plan.added)
          await updateRows(transaction, [...plan.changed, ...touched])
          added += plan.added.length
        }
        return { added, updated: entries.length - added }
      })
    },

    async previewServers(userId, organizationId, entries) {
      const stored = await findStored(database, dialect, userId, organizationId, entries)
      const { added, changed, unchanged } = planImport(stored, entries, 0, () => '')
      const meant = new Set([...changed, ...unchanged].map((one) => one.stored.id))
      const present = await database.all<{ id: string }>(sql`
        SELECT id FROM servers WHERE ${inPlace(userId, organizationId)} ORDER BY id`)
      return {
        added: added.length,
        updated: entries.length - added.length,
        absent: present.flatMap(({ id }) => (meant.has(id) ? [] : [id])),
      }
    },

    async removeServers(userId, ids) {
      return database.transact(async (transaction) => {
        await transaction.lock('users', [userId])
        return transaction.run(sql`
          DELETE FROM servers WHERE created_by = ${uuid(userId)} AND id IN (${uuids(ids)})`)
      })
    },
  }
}

/** Where an import goes: the user's personal servers, or those under an organization. */
const inPlace = (userId: string, organizationId: string | null): Sql =>
  sql`created_by = ${uuid(userId)}
    AND organization_id IS NOT DISTINCT FROM ${placeOf(organizationId)}`

/** The servers in this place that an entry may mean. */
export async function findStored(
  queries: Queries,
  { instant }: Dialect,
  userId: string,
  organizationId: string | null,
  entries: readonly ServerEntry[],
): Promise<ImportedRow[]> {
  const place = inPlace(userId, organizationId)
  const find = (condition: Sql) =>
    queries.all<ImportedRow>(
      sql`SELECT ${ROW}, ${instant('updated_at')} FROM servers WHERE ${place} AND ${condition}`,
    )
  const slugs = entries.flatMap(({ slug }) => (slug ? [slug] : []))
  const addresses = entries.flatMap(({ slug, address }) => (slug ? [] : [address]))
  const found = new Map<string, ImportedRow>()
  if (slugs.length > 0)
    for (const row of await find(sql`slug IN (${strings(slugs)})`)) found.set(row.id, row)
  if (addresses.length > 0)
    for (const row of await find(sql`host_label IN (${strings(addresses)})`)) found.set(row.id, row)
  return [...found.values()].toSorted(byRank)
}

/**
 * Of several servers with one address, each batch of an import must mean the same one. Servers
 * without a slug come first, because an entry is matched by address only if it has no slug either.
 */
function byRank(one: ImportedRow, other: ImportedRow): number {
  if ((one.slug === null) !== (other.slug === null)) return one.slug === null ? -1 : 1
  return one.id < other.id ? -1 : 1
}

const FIELDS = {
  id: 'uuid',
  name: 'text',
  slug: 'text',
  host_label: 'text',
  edition: 'text',
  status: 'text',
  version: 'text',
  listing_kind: 'text',
  updated_at: 'instant',
} as const

/** On PostgreSQL one statement for all rows: triggers on servers run once per statement. */
export async function insertRows(
  transaction: Transaction,
  userId: string,
  organizationId: string | null,
  rows: readonly ImportedRow[],
): Promise<void> {
  if (rows.length === 0) return
  await transaction.runGiven(
    FIELDS,
    rows,
    ({ column, rowsOf }) => sql`
      INSERT INTO servers (id, name, slug, host_label, edition, status, version, listing_kind,
        updated_at, created_by, organization_id)
      ${rowsOf(sql`${column('id')}, ${column('name')}, ${column('slug')}, ${column('host_label')},
        ${column('edition')}, ${column('status')}, ${column('version')}, ${column('listing_kind')},
        ${column('updated_at')}, ${uuid(userId)}, ${placeOf(organizationId)}`)}`,
  )
}

const FLAGS = { sets_slug: 'integer', sets_version: 'integer', sets_kind: 'integer' } as const

/** A field that no entry names keeps its value, even if another program has just changed it. */
export async function updateRows(
  transaction: Transaction,
  changed: readonly ChangedServer[],
): Promise<void> {
  if (changed.length === 0) return
  const rows = changed.map(({ row, named }) => ({
    ...row,
    edition: named.has('edition') ? row.edition : null,
    status: named.has('status') ? row.status : null,
    sets_slug: Number(named.has('slug')),
    sets_version: Number(named.has('version')),
    sets_kind: Number(named.has('listing_kind')),
  }))
  await transaction.runGiven(
    { ...FIELDS, ...FLAGS },
    rows,
    ({ column, from }) => sql`
      UPDATE servers SET name = ${column('name')}, host_label = ${column('host_label')},
        slug = CASE WHEN ${column('sets_slug')} = 1 THEN ${column('slug')} ELSE servers.slug END,
        edition = coalesce(${column('edition')}, servers.edition),
        status = coalesce(${column('status')}, servers.status),
        version = CASE WHEN ${column('sets_version')} = 1 THEN ${column('version')} ELSE servers.version END,
        listing_kind = CASE WHEN ${column('sets_kind')} = 1
          THEN ${column('listing_kind')} ELSE servers.listing_kind END,
        updated_at = ${column('updated_at')}
      ${from} WHERE servers.id = ${column('id')}`,
  )
}
