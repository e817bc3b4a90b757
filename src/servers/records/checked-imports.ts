import { setImmediate as otherWork } from 'node:timers/promises'
import { formatInstant, type Instant } from '../../model/instant.ts'
import {
  type ChangedField,
  type CheckedImport,
  IMPORT_KEPT_US,
  IMPORTS_MAX,
  LISTED_MAX,
  type PlannedImport,
  type PlannedServer,
  countNothing,
  type ImportCounts,
  sayCounts,
  type WholeImport,
} from '../server-import.ts'
import { REGISTERED_MAX } from '../server.ts'
import { toServer } from '../../model/server-row.ts'
import type { ServerEntry } from '../server-entry.ts'
import type { Actor } from '../../model/audit.ts'
import { act, type Note } from '../../accounts/records/audit.ts'
import type { Database, Dialect, Queries, Transaction } from '../../database/database.ts'
import { at, sql, uuid } from '../../database/sql.ts'
import { type ChangedServer, changedFields, type ImportedRow } from './import/values.ts'
import { addCounts, placeInList, PLANNED_MAX, planParts } from './import/parts.ts'
import { type KeptServer, keepChange } from './kept-changes.ts'
import { countOwned } from './server-rows.ts'
import { saveParts } from './server-imports.ts'

export function checkedImports(database: Database) {
  const { dialect } = database

  return {
    /** Changes nothing. The rules are those of `saveServers`. */
    planServers: (
      userId: string,
      entries: readonly ServerEntry[],
      whole: WholeImport = {},
    ): Promise<PlannedImport> => plan(database, dialect, userId, entries, whole, otherWork),

    /** Keeps entries for the user to confirm, and drops all but the latest IMPORTS_MAX. */
    async keepImport(
      userId: string,
      id: string,
      entries: readonly ServerEntry[],
      now: Instant,
      places: readonly string[] = [],
    ): Promise<void> {
      const kept = entries.map((entry, position) => ({ ...entry, place: places[position] }))
      await database.transact((transaction) => keep(transaction, userId, id, kept, now))
    },

    /** Null if this user has no such import, or kept it longer than IMPORT_KEPT_US ago. */
    async findImport(userId: string, id: string, now: Instant): Promise<CheckedImport | null> {
      return find(database, userId, id, now)
    },

    /**
     * Saves the kept entries if that still does what the fingerprint says. The import is a change
     * of the same id, which the user can undo. Saves an import once: later calls return `saved`,
     * too. `replanned` if the servers have changed since the check, or if an entry is wrong by now.
     */
    saveImport: (
      userId: string,
      id: string,
      fingerprint: string,
      actor: Actor,
    ): Promise<'saved' | 'replanned' | 'too many' | 'not found'> =>
      act(database, actor, (transaction, note) =>
        save(transaction, dialect, userId, id, fingerprint, actor.at, note),
      ),
  }
}

/** An entry as the database keeps it. An earlier version keeps no place. */
type KeptEntry = ServerEntry & { place?: string | undefined }

/** In a plan that is only compared, an entry without an instant gets this one. */
const UNDATED: Instant = 0

async function keep(
  transaction: Transaction,
  userId: string,
  id: string,
  entries: readonly KeptEntry[],
  now: Instant,
): Promise<void> {
  await transaction.lock('users', [userId])
  await transaction.run(sql`
    DELETE FROM checked_imports WHERE user_id = ${uuid(userId)} AND id NOT IN (
      SELECT id FROM checked_imports WHERE user_id = ${uuid(userId)}
        AND checked_at > ${at(now - IMPORT_KEPT_US)}
      ORDER BY checked_at DESC, id DESC LIMIT ${IMPORTS_MAX - 1})`)
  const known = await transaction.get(sql`SELECT 1 FROM checked_imports WHERE id = ${uuid(id)}`)
  if (known !== null) return
  await transaction.run(sql`
    INSERT INTO checked_imports (id, user_id, checked_at, entries)
    VALUES (${uuid(id)}, ${uuid(userId)}, ${at(now)}, ${JSON.stringify(entries)})`)
}

async function find(
  queries: Queries,
  userId: string,
  id: string,
  now: Instant,
): Promise<CheckedImport | null> {
  const row = await queries.get<{ entries: string; saved: string | null }>(sql`
    SELECT entries, saved FROM checked_imports
    WHERE id = ${uuid(id)} AND user_id = ${uuid(userId)} AND checked_at > ${at(now - IMPORT_KEPT_US)}`)
  if (row === null) return null
  const kept = JSON.parse(row.entries) as KeptEntry[]
  return {
    entries: kept.map((one) => {
      const { place: _, ...entry } = one
      return entry
    }),
    places: kept.map(({ place }, position) => place ?? placeInList(position)),
    saved: row.saved === null ? null : (JSON.parse(row.saved) as ImportCounts),
  }
}

async function save(
  transaction: Transaction,
  dialect: Dialect,
  userId: string,
  id: string,
  fingerprint: string,
  now: Instant,
  note: Note,
): Promise<'saved' | 'replanned' | 'too many' | 'not found'> {
  await transaction.lock('users', [userId])
  const kept = await find(transaction, userId, id, now)
  if (kept === null) return 'not found'
  if (kept.saved !== null) return 'saved'
  const { entries } = kept
  const planned = await plan(transaction, dialect, userId, entries, {})
  if (planned.fingerprint !== fingerprint || planned.wrong.length > 0) return 'replanned'
  if (planned.isTooMany) return 'too many'
  const target = { userId, organizationId: null, entries, whole: {} }
  const owned = (row: ImportedRow) => ({ ...row, created_by: userId, organization_id: null })
  let saved = countNothing()
  const change = { id, action: 'servers imported', changed_at: now } as const
  await keepChange(transaction, userId, change, async () => {
    const servers: KeptServer[] = []
    const { wrong: _, ...counts } = await saveParts(transaction, dialect, target, now, (part) => {
      servers.push(...part.added.map((row) => ({ before: null, after: owned(row) })))
      servers.push(
        ...part.changed.map(({ stored, row }) => ({ before: owned(stored), after: owned(row) })),
      )
    })
    saved = counts
    return servers
  })
  await transaction.run(sql`
    UPDATE checked_imports SET saved = ${JSON.stringify(saved)} WHERE id = ${uuid(id)}`)
  if (saved.added + saved.changed > 0) note('servers imported', userId, sayCounts(saved))
  return 'saved'
}

/** Waits for `pause` between two parts. A transaction must not. */
async function plan(
  queries: Queries,
  dialect: Dialect,
  userId: string,
  entries: readonly ServerEntry[],
  whole: WholeImport,
  pause?: () => Promise<void>,
): Promise<PlannedImport> {
  // Loaded here: a command that lists needs no cryptography.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const target = { userId, organizationId: null, entries, whole }
  const planned = { ...countNothing(), wrong: [] as PlannedImport['wrong'] }
  const listed: PlannedImport['listed'] = { added: [], changed: [] }
  const digest = createHash('sha256')
  await planParts(queries, dialect, target, PLANNED_MAX, UNDATED, (part) => {
    addCounts(planned, part)
    planned.wrong.push(...part.wrong)
    const open = LISTED_MAX - listed.added.length
    listed.added.push(...part.added.slice(0, open).map((row) => toPlanned(row, [])))
    const free = LISTED_MAX - listed.changed.length
    listed.changed.push(
      ...part.changed.slice(0, free).map((one) => toPlanned(one.row, fieldsOf(one))),
    )
    const differences = part.changed.map(({ stored, row }) => [stored, row])
    const fresh = part.added.map((row) => ({ ...row, id: null }))
    digest.update(JSON.stringify([fresh, differences, part.wrong]))
    return pause?.()
  })
  const owned = await countOwned(queries, userId)
  return {
    ...planned,
    listed,
    isTooMany: planned.added > 0 && owned + planned.added > REGISTERED_MAX,
    fingerprint: digest.digest('hex'),
  }
}

function toPlanned({ name, host_label }: ImportedRow, fields: ChangedField[]): PlannedServer {
  return { name, address: host_label, fields }
}

function fieldsOf(one: ChangedServer): ChangedField[] {
  const [from, to] = [valuesOf(one.stored), valuesOf(one.row)]
  return changedFields(one).map((column) => {
    const name = column === 'host_label' ? 'address' : column
    return { name, from: from[name], to: to[name] }
  })
}

function valuesOf(row: ImportedRow) {
  return { ...toServer(row), updated_at: formatInstant(row.updated_at) }
}
