import { SERVER_DEFAULTS } from '../../../listing/servers/server.ts'
import type { ServerEntry } from '../../../listing/servers/server-entry.ts'
import { type ChangedServer, changedFields, type ImportedRow, OPTIONAL } from '../changed-server.ts'
import { createDraft, type Draft, type PlanContext } from './draft.ts'
import type { WrongEntry } from '../../../listing/servers/server-import.ts'
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
 * servers with a slug or an address of the part, preferred ones first. The order of the entries
 * does not matter.
 */
export function planImport(
  stored: readonly ImportedRow[],
  entries: readonly ServerEntry[],
  positions: readonly number[],
  context: PlanContext,
): ImportPlan {
  const draft = createDraft(entries, context)
  const servers = stored.map((row) => new Planned(row, row))
  // Another entry means the servers whose slug it has.
  const isFree = ({ stored: row }: Planned) => row?.slug == null || !context.hasSlug(row.slug)
  const free = servers.filter(isFree)
  const bySlug = Map.groupBy(servers, ({ row }) => row.slug)
  const byPlace = Map.groupBy(free, placeKey)
  const keyOf = createKeys(entries, positions, free)
  const [slugged, slugless] = groupPositions(entries, positions, keyOf)

  const sluggedLeft = slugged.map(([slug, group]) => {
    const left = pairEntries(entries, group, bySlug.get(slug) ?? [], [], draft.mean)
    return [bySlug.get(slug), left] as const
  })
  const sluglessLeft = slugless.map(([key, group]) => {
    const left = pairEntries(entries, group, byPlace.get(key) ?? [], ['name'], draft.mean)
    return [key, left] as const
  })
  const adopt = createAdoption(free, draft)
  for (const [known, [first, ...rest]] of sluggedLeft) {
    if (first === undefined) continue
    if (known !== undefined) draft.settle([first, ...rest], known)
    else draft.settle(rest, [adopt(entries[first]!, keyOf(first), first) ?? draft.add(first)])
  }
  const present = servers.filter((one) => one.meantBy !== -1 || isFree(one))
  const byPlaceNow = Map.groupBy([...present, ...draft.added], placeKey)
  for (const [key, [first, ...rest]] of sluglessLeft) {
    if (first === undefined) continue
    const known = byPlaceNow.get(key)
    if (known !== undefined) draft.settle([first, ...rest], known)
    else draft.settle(rest, [draft.add(first)])
  }
  return outcomeOf(servers, entries, draft, context)
}

type Groups = [key: string, positions: number[]][]

/** The positions with each slug, and those without a slug by their address and edition. */
function groupPositions(
  entries: readonly ServerEntry[],
  positions: readonly number[],
  keyOf: (position: number) => string,
): [slugged: Groups, slugless: Groups] {
  const slugged = positions.filter((position) => entries[position]!.slug)
  const slugless = positions.filter((position) => !entries[position]!.slug)
  return [
    [...Map.groupBy(slugged, (position) => entries[position]!.slug!)],
    [...Map.groupBy(slugless, keyOf)],
  ]
}

/** A valid address and edition have no line break, so other values have other keys. */
const keyFor = (address: string, edition: string): string => `${address}\n${edition}`

const placeKey = ({ row }: Planned): string => keyFor(row.host_label, row.edition)

/**
 * The address and the edition of an entry. One that leaves out the edition means the servers with
 * the default edition, or those with another if no server at the address has the default.
 */
function createKeys(
  entries: readonly ServerEntry[],
  positions: readonly number[],
  free: readonly Planned[],
): (position: number) => string {
  const editions = new Map<string, string>()
  const note = (address: string, edition: string) => {
    if (edition === SERVER_DEFAULTS.edition || !editions.has(address))
      editions.set(address, edition)
  }
  for (const { row } of free) note(row.host_label, row.edition)
  for (const position of positions) {
    const { slug, address, edition = SERVER_DEFAULTS.edition } = entries[position]!
    if (slug) note(address, edition)
  }
  return (position) => {
    const { address, edition } = entries[position]!
    return keyFor(address, edition ?? editions.get(address) ?? SERVER_DEFAULTS.edition)
  }
}

/**
 * An entry with a new slug means the server without a slug that has its name, address and edition,
 * if no other entry means that one.
 */
function createAdoption(free: readonly Planned[], { mean }: Draft) {
  const open = free.filter(({ stored, meantBy }) => meantBy === -1 && stored?.slug === null)
  const byName = Map.groupBy(open.toReversed(), (one) => keyOf(placeKey(one), one.row.name))
  return ({ name }: ServerEntry, place: string, position: number): Planned | undefined => {
    const one = byName.get(keyOf(place, name))?.pop()
    if (one !== undefined) mean(one, position)
    return one
  }
}

function keyOf(place: string, name: string): string {
  return `${place}\n${name}`
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
