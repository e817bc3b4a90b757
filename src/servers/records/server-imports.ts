import {
  countNothing,
  type ImportOptions,
  type PlannedImport,
  type SavedServers,
  sayCounts,
  type WrongEntry,
} from '../server-import.ts'
import type { Actor } from '../../model/audit.ts'
import { act, type Note, sayServers } from '../../accounts/records/audit.ts'
import type { Database, Dialect, Queries, Transaction } from '../../database/database.ts'
import { inStrings, inUuids, type Sql, sql } from '../../database/sql.ts'
import { complaintsAboutCase, type OfferedValues, type ServerEntry } from '../server-entry.ts'
import { createOrderedIds } from '../../database/ordered-ids.ts'
import { quote } from '../../model/text.ts'
import { INITIAL } from '../fields.ts'
import { isChanged, type PlacedServer, type PlannedServer, planServers } from '../plan.ts'
import { findKept, keepChange } from './kept-changes.ts'
import {
  columnsOf,
  countOwned,
  isOwn,
  type KeptServer,
  placeOf,
  type RegisteredRow,
  toRegisteredServer,
  toRow,
  writeServers,
} from './server-rows.ts'

export function serverImports(database: Database) {
  const { dialect } = database

  return {
    /** What `saveServers` would do. Changes nothing. */
    planServers: (
      userId: string,
      organizationId: string | null,
      entries: readonly ServerEntry[],
      now: number,
      options: ImportOptions = {},
    ): Promise<PlannedImport> =>
      plan(database, dialect, { userId, organizationId, entries, options, now }),

    /**
     * Writes all entries, or none if one is wrong, into the user's personal servers or those under
     * the organization. `planServers` in `plan.ts` says which server an entry means. Absent fields
     * keep their values. A pruning import removes the servers of `removed` that no entry means.
     */
    saveServers: (
      userId: string,
      organizationId: string | null,
      entries: readonly ServerEntry[],
      actor: Actor,
      options: SaveOptions = {},
    ): Promise<SavedServers> =>
      act(database, actor, (transaction, note) =>
        save(
          transaction,
          dialect,
          { userId, organizationId, entries, options, now: actor.at },
          note,
        ),
      ),

    /**
     * Saves an import into the user's personal servers if it still does what the fingerprint says,
     * as a change with this id that the user can undo. Saves it once: later calls return null, too.
     * Otherwise returns what it would do by now.
     */
    saveChecked: (
      userId: string,
      entries: readonly ServerEntry[],
      actor: Actor,
      options: ImportOptions & { id: string; fingerprint: string },
    ): Promise<PlannedImport | null> =>
      act(database, actor, async (transaction, note) => {
        const { id, fingerprint } = options
        await transaction.lock('users', [userId])
        if ((await findKept(transaction, userId, id, actor.at)) !== null) return null
        const target = { userId, organizationId: null, entries, options, now: actor.at }
        const planned = await plan(transaction, dialect, target)
        const { changes, wrong, isTooMany } = planned
        if (planned.fingerprint !== fingerprint || wrong.length > 0 || isTooMany) return planned
        const change = { id, action: 'servers imported', changed_at: actor.at } as const
        await keepChange(transaction, userId, change, async () => {
          const rows = rowsOf(changes)
          await writeServers(transaction, rows)
          return rows
        })
        if (changes.length > 0) note('servers imported', userId, sayCounts(planned))
        return null
      }),

    /** Deletes servers of the user for good and ignores other ids. Returns how many it deleted. */
    removeServers: (userId: string, ids: readonly string[], actor: Actor): Promise<number> =>
      act(database, actor, async (transaction, note) => {
        await transaction.lock('users', [userId])
        const removed = await remove(transaction, userId, ids)
        if (removed > 0) note('servers removed', userId, sayServers(ids))
        return removed
      }),
  }
}

type SaveOptions = ImportOptions & { removed?: readonly string[] }

async function save(
  transaction: Transaction,
  dialect: Dialect,
  target: ImportTarget<SaveOptions>,
  note: Note,
): Promise<SavedServers> {
  const { userId, options } = target
  // Other imports and forms of this user wait. Without the lock they would not see the new rows.
  await transaction.lock('users', [userId])
  const planned = await plan(transaction, dialect, target)
  const { added, changed, unchanged, wrong, isTooMany } = planned
  if (wrong.length > 0 || isTooMany) return { ...countNothing(), wrong, isTooMany }
  await writeServers(transaction, rowsOf(planned.changes))
  const confirmed = new Set(options.removed)
  const ids = planned.absent.filter((id) => confirmed.has(id))
  const removed = ids.length === 0 ? 0 : await remove(transaction, userId, ids)
  const said = options.prunes ? `, ${removed} removed` : ''
  if (planned.changes.length + removed > 0)
    note('servers imported', userId, `${sayCounts(planned)}${said}`)
  return { added, changed, unchanged, removed, wrong, isTooMany }
}

const remove = (
  transaction: Transaction,
  userId: string,
  ids: readonly string[],
): Promise<number> =>
  transaction.run(sql`DELETE FROM servers WHERE ${isOwn(userId)} AND id ${inUuids(ids)}`)

/** The entries of an import, and where they go. */
interface ImportTarget<Options = ImportOptions> {
  userId: string
  organizationId: string | null
  entries: readonly ServerEntry[]
  options: Options
  now: number
}

async function plan(
  queries: Queries,
  dialect: Dialect,
  { userId, organizationId, entries, options, now }: ImportTarget,
): Promise<PlannedImport> {
  const { prunes = false, placeOf: nameOf = placeInList, ownedMax } = options
  const inPlace = sql`${isOwn(userId)}
    AND organization_id IS NOT DISTINCT FROM ${placeOf(organizationId)}`
  const rows = await queries.all<RegisteredRow>(sql`
    SELECT ${columnsOf(dialect)} FROM servers
    WHERE ${inPlace} AND ${prunes ? sql`true` : isMeant(entries)} ORDER BY id`)
  const stored = rows.map((row): PlacedServer => {
    const { organization_id: organization, ...server } = toRegisteredServer(row)
    return { ...server, organization }
  })
  const wanted = entries.map((entry) => ({ entry, organization: organizationId }))
  const { planned, absent, mistakes } = planServers(stored, wanted, {
    userId,
    now,
    declares: false,
    prunes,
    makeId: createOrderedIds(),
    nameOf,
  })
  const wrong: WrongEntry[] = [
    ...mistakes.map(({ position, field, message }) => ({
      position,
      place: nameOf(position),
      message: `"${field}" ${message}`,
    })),
    ...planned.flatMap((one) => otherCases(one, entries[one.position]!, nameOf)),
  ].toSorted((one, other) => one.position - other.position)
  const changes = planned.filter(({ before, after }) => isChanged(before, after))
  const added = changes.filter(({ before }) => before === null).length
  const owned = ownedMax === undefined ? 0 : await countOwned(queries, userId)
  const left = prunes ? absent : []
  return {
    added,
    changed: changes.length - added,
    unchanged: planned.length - changes.length,
    removed: 0,
    wrong,
    changes,
    isTooMany: added > 0 && owned + added - left.length > (ownedMax ?? Number.POSITIVE_INFINITY),
    absent: left.map(({ id }) => id),
    present: prunes ? stored.length : 0,
    fingerprint: fingerprintOf(changes, wrong),
  }
}

/** The place of an entry whose file is unknown. */
const placeInList = (position: number): string => `entry ${position + 1}`

/** The servers that an entry may mean. */
function isMeant(entries: readonly ServerEntry[]): Sql {
  const ids = entries.flatMap(({ id }) => id ?? [])
  const slugs = entries.flatMap(({ slug }) => slug ?? [])
  return sql`(id ${inUuids(ids)} OR slug ${inStrings(slugs)}
    OR host_label ${inStrings(entries.map(({ address }) => address))})`
}

/** A new status or edition that differs from a known one only in case. */
function otherCases(
  { position, before }: PlannedServer,
  entry: ServerEntry,
  nameOf: (position: number) => string,
): WrongEntry[] {
  const complaints = complaintsAboutCase(entry, before ?? INITIAL)
  return Object.entries(complaints).map(([field, complaint]) => {
    const value = entry[field as keyof OfferedValues]!
    return {
      position,
      place: nameOf(position),
      message: `"${field}" ${complaint}: ${quote(value)}`,
      offered: { [field]: value.toLowerCase() },
    }
  })
}

/** Without what differs each time: the ids of new servers, and the instant of an import. */
function fingerprintOf(changes: readonly PlannedServer[], wrong: readonly WrongEntry[]): string {
  // Loaded on use: a command that lists needs no cryptography.
  const { hash } = process.getBuiltinModule('node:crypto')
  const values = changes.map(({ before, after: { id, updated_at, ...after }, isDated }) => [
    before,
    after,
    before === null || id,
    isDated && updated_at,
  ])
  return hash('sha256', JSON.stringify([values, wrong]), 'hex')
}

const rowsOf = (changes: readonly PlannedServer[]): KeptServer[] =>
  changes.map(({ before, after }) => ({ before: before && toRow(before), after: toRow(after) }))
