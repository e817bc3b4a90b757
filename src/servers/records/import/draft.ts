import type { Instant } from '../../../model/instant.ts'
import type { ServerEntry } from '../../server-entry.ts'
import { applied, type ImportedRow, NEW_ROW, columnsOf } from './values.ts'
import { meantTwice, type Mistake, otherCases, renames } from './mistakes.ts'
import { createFinder, Planned } from './pairs.ts'

/** What a part of an import has to know beside its entries. */
export interface PlanContext {
  /** The instant of new and of changed servers. */
  now: Instant
  /** The id of the new server of an entry. */
  idOf(position: number): string
  /** Whether an entry of the whole import has this slug. */
  hasSlug(slug: string): boolean
  /** The place of an entry in messages. */
  placeOf(position: number): string
}

/** What the entries of a plan do, one after another. */
export interface Draft {
  added: Planned[]
  wrong: Mistake[]
  /** Entries that say again what another one says. */
  duplicates: number
  /** The entry means this server. */
  mean(one: Planned, position: number): void
  add(position: number): Planned
  /** Entries for which only these servers are left: each says one of them again, or is wrong. */
  settle(positions: readonly number[], servers: readonly Planned[]): void
}

export function createDraft(
  entries: readonly ServerEntry[],
  { now, idOf, placeOf }: PlanContext,
): Draft {
  const draft: Draft = {
    added: [],
    wrong: [],
    duplicates: 0,
    mean(one, position) {
      const entry = entries[position]!
      draft.wrong.push(...otherCases(entry, position, one.row))
      one.row = withEntry(entry, one.row, now)
      one.isDated = one.row.updated_at === entry.updated_at
      one.meantBy = position
    },
    add(position) {
      const entry = entries[position]!
      draft.wrong.push(...otherCases(entry, position, NEW_ROW))
      const row = applied(entry, { ...NEW_ROW, id: idOf(position) }, now)
      const one = new Planned(row, null, position)
      draft.added.push(one)
      return one
    },
    settle(positions, servers) {
      if (positions.length === 0) return
      const meant = servers.filter(({ meantBy }) => meantBy !== -1)
      const other = servers.find(({ meantBy }) => meantBy === -1)
      const find = createFinder(meant)
      for (const position of positions) {
        const entry = entries[position]!
        const columns = columnsOf(entry).filter((column) => column !== 'updated_at')
        const [same] = find(entry, columns)
        if (same !== undefined) {
          draft.duplicates += 1
          takeNewer(same, entry)
          continue
        }
        const [namesake] = find(entry, ['name'])
        const twice = namesake ?? (other === undefined ? meant[0] : undefined)
        draft.wrong.push(
          twice === undefined
            ? renames(entry, position, other!)
            : meantTwice(entry, position, twice, placeOf),
        )
      }
    },
  }
  return draft
}

/** Of entries that differ only in their instant, the newest one counts. */
function takeNewer(one: Planned, { updated_at }: ServerEntry): void {
  if (updated_at === undefined || updated_at <= one.row.updated_at) return
  one.row = { ...one.row, updated_at }
  one.isDated = true
}

/**
 * A stored server with the values of its entry, which can't empty its slug. A newer instant of the
 * entry counts. Without one, a server that gets other values changes now.
 */
function withEntry(entry: ServerEntry, before: ImportedRow, now: Instant): ImportedRow {
  const { updated_at = before.updated_at } = entry
  const row = {
    ...applied(entry, before, now),
    slug: entry.slug ?? before.slug,
    updated_at: before.updated_at,
  }
  const isChanged = (Object.keys(before) as (keyof ImportedRow)[]).some(
    (column) => row[column] !== before[column],
  )
  const isNewer = updated_at > before.updated_at
  row.updated_at = isNewer ? updated_at : isChanged ? now : before.updated_at
  return row
}
