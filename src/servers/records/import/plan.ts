import { SERVER_DEFAULTS } from '../../../model/server-row.ts'
import { readValue, type ServerEntry } from '../../server-entry.ts'
import {
  type ChangedServer,
  changedFields,
  type ImportedRow,
  OPTIONAL,
  type Column,
} from './values.ts'
import { createDraft, type Draft, type PlanContext } from './draft.ts'
import type { WrongEntry } from '../../server-import.ts'
import { pairEntries, Planned } from './pairs.ts'

export interface ImportPlan {
  /** In the order of their entries. */
  added: ImportedRow[]
  /** Stored servers that get other values. */
  changed: ChangedServer[]
  /** Stored servers that an entry means, and that have its values. */
  unchanged: ImportedRow[]
  /** Entries that say again what another one says. */
  duplicates: number
  /** In the order of their entries. */
  wrong: WrongEntry[]
}

/**
 * Decides which server each entry of a part means; `saveServers` has the rule. `stored` has the
 * servers with a slug or an address of the part. The order of the entries does not matter.
 */
export function planImport(
  stored: readonly ImportedRow[],
  entries: readonly ServerEntry[],
  positions: readonly number[],
  context: PlanContext,
): ImportPlan {
  const draft = createDraft(entries, context)
  const servers = stored.toSorted(byRank).map((row) => new Planned(row, row))
  // Another entry means the servers whose slug it has.
  const isFree = ({ stored: row }: Planned) => row?.slug == null || !context.hasSlug(row.slug)
  const bySlug = Map.groupBy(servers, ({ row }) => row.slug)
  const byAddress = Map.groupBy(servers.filter(isFree), addressOf)
  const pair = (group: readonly number[], among: readonly Planned[], columns: readonly Column[]) =>
    pairEntries(entries, group, among, columns, draft.mean)
  const slugged = groupBy(positions, (position) => entries[position]!.slug)
  const slugless = groupBy(positions, (position) =>
    entries[position]!.slug ? null : entries[position]!.address,
  )

  const fresh: number[][] = []
  for (const [slug, group] of slugged) {
    const known = bySlug.get(slug)
    if (known === undefined) fresh.push(group)
    else draft.settle(pair(group, known, []), known)
  }
  const left = slugless.flatMap(([address, group]) =>
    pair(group, byAddress.get(address) ?? [], PLACED),
  )
  const firsts = fresh.map(([first]) => first!)
  const added = groupBy(firsts, (position) => entries[position]!.address).flatMap(
    ([address, group]) => {
      const open = (byAddress.get(address) ?? []).filter(isOpen)
      return pair(group, open, PLACED).map((position) => draft.add(position))
    },
  )
  const present = [...servers.filter((one) => one.meantBy !== -1 || isFree(one)), ...added]
  const byPosition = new Map(present.map((one) => [one.meantBy, one]))
  for (const [first, ...rest] of fresh) draft.settle(rest, [byPosition.get(first!)!])
  placeLeft(entries, left, present, draft)
  return outcomeOf(servers, entries, draft, context)
}

/** An entry means no server with another name. If it has an edition, none with another one. */
const PLACED = ['name', 'edition'] as const

/** An entry with a new slug can mean this server. */
const isOpen = ({ stored, meantBy }: Planned): boolean => meantBy === -1 && stored?.slug === null

const addressOf = ({ row }: Planned): string => row.host_label

/** Of several servers, an entry prefers the default edition, then those without a slug. */
function byRank(one: ImportedRow, other: ImportedRow): number {
  return rankOf(one) - rankOf(other) || (one.id < other.id ? -1 : 1)
}

function rankOf({ edition, slug }: ImportedRow): number {
  return (edition === SERVER_DEFAULTS.edition ? 0 : 2) + (slug === null ? 0 : 1)
}

/** The positions with each value, without those that have none. */
function groupBy(
  positions: readonly number[],
  keyOf: (position: number) => string | null | undefined,
): [value: string, positions: number[]][] {
  const valued = positions.filter((position) => keyOf(position))
  return [...Map.groupBy(valued, (position) => keyOf(position)!)]
}

/**
 * Entries without a slug that mean no server by their names. They add one only if no server has
 * their address and edition. One that leaves out the edition adds one with the default edition,
 * only if no server had its address before.
 */
function placeLeft(
  entries: readonly ServerEntry[],
  left: readonly number[],
  present: readonly Planned[],
  draft: Draft,
): void {
  if (left.length === 0) return
  const byAddress = Map.groupBy(present, addressOf)
  for (const [address, group] of groupBy(left, (position) => entries[position]!.address)) {
    const before = byAddress.get(address) ?? []
    const byEdition = Map.groupBy(before, ({ row }) => String(readValue(row.edition)))
    for (const [edition, positions] of groupBy(group, (position) => entries[position]!.edition)) {
      const known = byEdition.get(edition) ?? [draft.add(positions.shift()!)]
      byEdition.set(edition, known)
      draft.settle(positions, known)
    }
    const open = group.filter((position) => entries[position]!.edition === undefined)
    const usual = byEdition.get(SERVER_DEFAULTS.edition) ?? []
    if (before.length === 0 && usual.length === 0 && open.length > 0)
      usual.push(draft.add(open.shift()!))
    byEdition.delete(SERVER_DEFAULTS.edition)
    draft.settle(open, [...usual, ...[...byEdition.values()].flat()])
  }
}

function outcomeOf(
  servers: readonly Planned[],
  entries: readonly ServerEntry[],
  { added, wrong, duplicates }: Draft,
  { placeOf }: PlanContext,
): ImportPlan {
  const changed: ChangedServer[] = []
  const unchanged: ImportedRow[] = []
  for (const { stored, row, meantBy, isDated } of servers) {
    if (meantBy === -1 || stored === null) continue
    const entry = entries[meantBy]!
    const named = new Set(OPTIONAL.filter((field) => entry[field] !== undefined))
    if (!entry.slug) named.delete('slug')
    if (isDated) named.add('updated_at')
    else named.delete('updated_at')
    const one = { stored, row, named }
    if (changedFields(one).length > 0) changed.push(one)
    else unchanged.push(stored)
  }
  return {
    added: added.toSorted((one, other) => one.meantBy - other.meantBy).map(({ row }) => row),
    changed,
    unchanged,
    duplicates,
    wrong: wrong
      .toSorted((one, other) => one.position - other.position)
      .map((mistake) => ({ ...mistake, place: placeOf(mistake.position) })),
  }
}
