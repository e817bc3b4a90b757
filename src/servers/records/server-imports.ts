import {
  countNothing,
  type SavedServers,
  type WrongEntry,
  type WholeImport,
  type PreviewedImport,
  sayCounts,
} from '../server-import.ts'
import type { Actor } from '../../model/audit.ts'
import { act, sayServers } from '../../accounts/records/audit.ts'
import type { Database, Dialect, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven } from '../../database/given-rows.ts'
import type { ChangedServer, ImportedRow } from './import/values.ts'
import { addCounts, type ImportTarget, inPlace, PLANNED_MAX, planParts } from './import/parts.ts'
import type { ImportPlan } from './import/plan.ts'
import { inUuids, sql, uuid } from '../../database/sql.ts'
import type { ServerEntry } from '../server-entry.ts'

export function serverImports(database: Database) {
  const { dialect } = database

  return {
    /**
     * Writes all entries, or none if one is wrong. An entry means a server of the user, personally
     * or in that organization:
     *
     * - With a slug, the server that has it. If the slug is new, the server without a slug that has
     * the entry's name, address and edition.
     * - Without a slug, the server with the entry's address and edition. Its name must be the same.
     *
     * An entry that leaves out the edition means a server with any edition. Of several servers, one
     * with all values of the entry counts first, then one with the default edition. No server is
     * meant twice. An entry for whose server another entry has other values is wrong. One with the
     * same values is a duplicate. An entry that means no server adds one. Absent fields keep their
     * values.
     */
    async saveServers(
      userId: string,
      organizationId: string | null,
      entries: readonly ServerEntry[],
      actor: Actor,
      whole: WholeImport = {},
    ): Promise<SavedServers> {
      const target: ImportTarget = { userId, organizationId, entries, whole }
      try {
        return await act(database, actor, async (transaction, note) => {
          // Other imports and forms of this user wait. Without the lock they would not see the new
          // rows.
          await transaction.lock('users', [userId])
          const saved = await saveParts(transaction, dialect, target, actor.at)
          if (saved.added + saved.changed > 0) note('servers imported', userId, sayCounts(saved))
          return saved
        })
      } catch (error) {
        if (!(error instanceof WrongEntries)) throw error
        return { ...countNothing(), wrong: error.wrong }
      }
    },

    /** What `saveServers` would do with all entries at once. Changes nothing. */
    async previewServers(
      userId: string,
      organizationId: string | null,
      entries: readonly ServerEntry[],
      { prune = false, ...whole }: WholeImport & { prune?: boolean } = {},
    ): Promise<PreviewedImport> {
      const target: ImportTarget = { userId, organizationId, entries, whole }
      const counts = countNothing()
      const wrong: WrongEntry[] = []
      const meant = new Set<string>()
      await planParts(database, dialect, target, PLANNED_MAX, 0, (plan) => {
        addCounts(counts, plan)
        wrong.push(...plan.wrong)
        if (!prune) return
        for (const { stored } of plan.changed) meant.add(stored.id)
        for (const { id } of plan.unchanged) meant.add(id)
      })
      const present = prune
        ? await database.all<{ id: string }>(
            sql`SELECT id FROM servers WHERE ${inPlace(userId, organizationId)} ORDER BY id`,
          )
        : []
      const absent = present.flatMap(({ id }) => (meant.has(id) ? [] : [id]))
      return { ...counts, wrong, absent, present: present.length }
    },

    /** Deletes servers of the user for good and ignores other ids. Returns how many it deleted. */
    async removeServers(userId: string, ids: readonly string[], actor: Actor): Promise<number> {
      return act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        const removed = await transaction.run(sql`
          DELETE FROM servers WHERE created_by = ${uuid(userId)} AND id ${inUuids(ids)}`)
        if (removed > 0) note('servers removed', userId, sayServers(ids))
        return removed
      })
    },
  }
}

/** Rolls back an import with wrong entries. */
class WrongEntries extends Error {
  readonly wrong: WrongEntry[]
  constructor(wrong: WrongEntry[]) {
    super('an import has wrong entries')
    this.wrong = wrong
  }
}

/**
 * Under the user's lock. Throws WrongEntries. `onSaved` gets each part of the import after it is
 * written.
 */
export async function saveParts(
  transaction: Transaction,
  dialect: Dialect,
  target: ImportTarget,
  now: number,
  onSaved?: (plan: ImportPlan) => void,
): Promise<SavedServers> {
  const counts = countNothing()
  await planParts(transaction, dialect, target, dialect.plannedMax, now, async (plan) => {
    if (plan.wrong.length > 0) throw new WrongEntries(plan.wrong)
    await insertRows(transaction, target.userId, target.organizationId, plan.added)
    await updateRows(transaction, plan.changed)
    addCounts(counts, plan)
    onSaved?.(plan)
  })
  return { ...counts, wrong: [] }
}

const FIELDS = columnsOf({
  uuid: 'id',
  text: 'name slug host_label edition status version listing_kind',
  instant: 'updated_at',
})

export const SERVER_COLUMNS = { ...FIELDS, ...columnsOf({ uuid: 'created_by organization_id' }) }

/** On PostgreSQL one statement for all rows: triggers on servers run once per statement. */
async function insertRows(
  transaction: Transaction,
  userId: string,
  organizationId: string | null,
  rows: readonly ImportedRow[],
): Promise<void> {
  const owner = { created_by: userId, organization_id: organizationId }
  const owned = rows.map((row) => ({ ...row, ...owner }))
  await insertGiven(transaction, 'servers', SERVER_COLUMNS, owned)
}

const FLAGS = { sets_slug: 'integer', sets_version: 'integer', sets_kind: 'integer' } as const

/** A field that no entry names keeps its value, even if another program has just changed it. */
async function updateRows(
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
