import type { Instant } from '../../listing/instant.ts'
import type { ServerRow } from '../../listing/servers/server.ts'
import { SERVER_DEFAULTS } from '../../listing/servers/server.ts'
import type { ServerEntry } from '../../listing/servers/server-entry.ts'

/** A server of the user in the place that the entries go to. */
export interface ImportedRow extends ServerRow {
  updated_at: Instant
}

/** Fields that an entry may leave out. A stored server then keeps its own. */
export const OPTIONAL = [
  'slug',
  'edition',
  'status',
  'version',
  'listing_kind',
  'updated_at',
] as const
export type Optional = (typeof OPTIONAL)[number]

/**
 * A server of the plan. Neither this nor the arrays of the index are literals: V8 may learn to make
 * literals among the old objects, where they and all they refer to outlive the plan.
 */
class Planned {
  row: ImportedRow
  /** The server as it is stored, or null for a new one. */
  readonly stored: ImportedRow | null
  readonly named = new Set<Optional>()
  /** True if an entry means this server. */
  isMeant: boolean

  constructor(row: ImportedRow, stored: ImportedRow | null) {
    this.row = row
    this.stored = stored
    this.isMeant = stored === null
  }
}

export interface ImportPlan {
  added: ImportedRow[]
  /** Stored servers that get other values. */
  changed: ChangedServer[]
  /** Stored servers that an entry means, and that have its values. The instant may differ. */
  unchanged: ChangedServer[]
}

/** A server before and after, with the optional fields that an entry names. */
export interface ChangedServer {
  stored: ImportedRow
  row: ImportedRow
  named: ReadonlySet<Optional>
}

/**
 * Applies the entries in order, each to what the ones before leave. `makeId` returns the id of a
 * new server.
 */
export function planImport(
  stored: readonly ImportedRow[],
  entries: readonly ServerEntry[],
  now: Instant,
  makeId: () => string,
): ImportPlan {
  const servers = createIndex()
  const planned = stored.map((row) => new Planned(row, row))
  for (const one of planned) servers.add(one)
  for (const entry of entries) {
    const found = servers.find(entry)
    if (found === undefined) {
      const row = applied(entry, { ...NEW_ROW, id: makeId() }, now)
      const added = new Planned(row, null)
      planned.push(added)
      servers.add(added)
    } else {
      found.isMeant = true
      servers.change(found, applied(entry, found.row, now))
      for (const field of OPTIONAL) if (entry[field] !== undefined) found.named.add(field)
    }
  }
  const known = planned.filter((one): one is Planned & ChangedServer => one.stored !== null)
  return {
    added: planned.filter(({ stored }) => stored === null).map(({ row }) => row),
    changed: known.filter((one) => changedFields(one).length > 0),
    unchanged: known.filter((one) => one.isMeant && changedFields(one).length === 0),
  }
}

/** The columns that get another value. The instant is one of them only if an entry names it. */
export function changedFields({ stored, row, named }: ChangedServer): (keyof ImportedRow)[] {
  return (Object.keys(stored) as (keyof ImportedRow)[]).filter(
    (key) => row[key] !== stored[key] && (key !== 'updated_at' || named.has(key)),
  )
}

type Index = Map<string, Planned[]>

/**
 * Finds a server by the slug of an entry, or by its address if it has no slug. Of several with one
 * address the first one counts, however often it changes.
 */
function createIndex() {
  const bySlug: Index = new Map()
  const byAddress: Index = new Map()
  return {
    find: ({ slug, address }: ServerEntry) =>
      (slug ? bySlug.get(slug) : byAddress.get(address))?.[0],
    add(one: Planned) {
      const { slug, host_label } = one.row
      append(byAddress, host_label, one)
      if (slug !== null) append(bySlug, slug, one)
    },
    change(one: Planned, row: ImportedRow) {
      const before = one.row
      one.row = row
      move(byAddress, one, before.host_label, row.host_label)
      move(bySlug, one, before.slug, row.slug)
    },
  }
}

function append(index: Index, value: string, one: Planned): void {
  const others = index.get(value)
  // See Planned.
  if (others === undefined) index.set(value, Array.of(one))
  else others.push(one)
}

function move(index: Index, one: Planned, from: string | null, to: string | null): void {
  if (from === to) return
  if (from !== null) {
    const others = index.get(from)!
    others.splice(others.indexOf(one), 1)
  }
  if (to !== null) append(index, to, one)
}

/** What a new server has in the fields that its entry leaves out. */
export const NEW_ROW = { slug: null, version: null, listing_kind: null, ...SERVER_DEFAULTS }

/** The server with the fields of an entry. */
export function applied(
  { address, ...given }: ServerEntry,
  before: Omit<ImportedRow, 'name' | 'host_label' | 'updated_at'>,
  now: Instant,
): ImportedRow {
  return { ...before, updated_at: now, ...given, host_label: address }
}
