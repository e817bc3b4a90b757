import type { StateComplaint, DeclaredServer } from '../../listing/state/declared-state.ts'
import type { StateChange } from '../../listing/state/state-store.ts'
import { formatInstant } from '../../listing/instant.ts'
import type { RegisteredServer } from '../../listing/servers/registered-server.ts'
import { toServer } from '../../listing/servers/server.ts'
import { quote } from '../../listing/text.ts'
import { applied, type ImportedRow, NEW_ROW } from '../servers/changed-server.ts'
import { createOrderedIds } from '../servers/ordered-ids.ts'
import type { Stored } from './stored-state.ts'

/** A server with its place: the slug of an organization, or null. */
type PlacedRow = ImportedRow & { place: string | null }

export interface PlannedServers {
  added: PlacedRow[]
  /** With the fields that change, which does not have the instant that changes with them. */
  changed: { row: PlacedRow; fields: (keyof PlacedRow)[] }[]
  removed: string[]
  changes: Omit<StateChange, 'of'>[]
  complaints: StateComplaint[]
}

/** Where the user's servers may be, once the file is applied. */
export interface Places {
  stored: Stored
  slugOf(organizationId: string | null): string | null
  isMember(slug: string): boolean
}

/** How the servers of a user become those that the file declares. */
export function planServers(
  declared: readonly DeclaredServer[] | undefined,
  userId: string,
  places: Places,
  { prune, now }: { prune: boolean; now: number },
): PlannedServers {
  const { matched, complaints } = matchServers(declared ?? [], userId, places, now)
  const plan: PlannedServers = { added: [], changed: [], removed: [], changes: [], complaints }
  for (const { declared: one, before, row } of matched) {
    if (before === null) {
      plan.added.push(row)
      plan.changes.push({ action: 'add', kind: 'server', text: tell(row) })
      continue
    }
    const fields = (Object.keys(before) as (keyof PlacedRow)[]).filter(
      (field) =>
        row[field] !== before[field] &&
        (field !== 'updated_at' || one.entry.updated_at !== undefined),
    )
    if (fields.length === 0) continue
    plan.changed.push({ row, fields })
    const told = fields.map((field) => tellField(field, before, row)).join(', ')
    const text = `${quote(before.name)} (${before.host_label}): ${told}`
    plan.changes.push({ action: 'change', kind: 'server', text })
  }
  const known = new Set(matched.map(({ before }) => before?.id))
  const absent = places.stored
    .serversOf(userId)
    .flatMap((server) => (known.has(server.id) ? [] : [rowOf(server, places)]))
  const isPruned = prune && declared !== undefined
  for (const row of isPruned ? absent : []) {
    plan.removed.push(row.id)
    plan.changes.push({ action: 'remove', kind: 'server', text: tell(row) })
  }
  return { ...plan, complaints: complaints.concat(slugsTaken(matched, isPruned ? [] : absent)) }
}

interface Matched {
  declared: DeclaredServer
  before: PlacedRow | null
  row: PlacedRow
}

function matchServers(
  declared: readonly DeclaredServer[],
  userId: string,
  places: Places,
  now: number,
): { matched: Matched[]; complaints: StateComplaint[] } {
  const { stored, slugOf, isMember } = places
  const complaints: StateComplaint[] = []
  const bySlug = Map.groupBy(stored.serversOf(userId), ({ slug, organization_id }) =>
    keyOf(slug, slugOf(organization_id)),
  )
  const meant = new Map<string, string>()
  const makeId = createOrderedIds()
  const matched = declared.flatMap((one): Matched[] => {
    const { id, place: at, entry } = one
    const complain = (field: string, message: string): [] => {
      complaints.push({ place: `${at}.${field}`, message })
      return []
    }
    const found =
      id === undefined
        ? (bySlug.get(keyOf(entry.slug ?? null, one.organization ?? null)) ?? [])
        : [stored.serversById.get(id)].filter((server) => server !== undefined)
    if (found.length > 1)
      return complain(
        'slug',
        `is the slug of ${found.length} servers of this user; give the "id" of one`,
      )
    const [known] = found
    if (known !== undefined && known.created_by !== userId)
      return complain('id', "is the id of another user's server")
    const twice = meant.get(known?.id ?? '')
    if (twice !== undefined) return complain('slug', `means the same server as ${twice}`)
    if (known !== undefined) meant.set(known.id, at)
    const before = known === undefined ? null : rowOf(known, places)
    const place = one.organization === undefined ? (before?.place ?? null) : one.organization
    if (place !== null && place !== before?.place && !isMember(place))
      return complain('organization', `must have the user as a member: ${quote(place)}`)
    const row = applied(entry, before ?? { ...NEW_ROW, id: id ?? makeId() }, now)
    return [{ declared: one, before, row: { ...row, place } }]
  })
  return { matched, complaints }
}

function slugsTaken(matched: readonly Matched[], left: readonly PlacedRow[]): StateComplaint[] {
  const taken = new Map(left.map(({ slug, place, name }) => [keyOf(slug, place), quote(name)]))
  return matched.flatMap(({ declared, row: { slug, place } }) => {
    const other = taken.get(keyOf(slug, place))
    if (slug === null) return []
    taken.set(keyOf(slug, place), declared.place)
    if (other === undefined) return []
    const message = `is the slug of another server of this user: ${other}`
    return [{ place: `${declared.place}.slug`, message }]
  })
}

const keyOf = (slug: string | null, place: string | null): string => `${place ?? ''}/${slug ?? ''}`

function rowOf(stored: RegisteredServer, { slugOf }: Places): PlacedRow {
  const { address, created_by: _owner, organization_id, ...row } = stored
  return { ...row, host_label: address, place: slugOf(organization_id) }
}

function tell(row: PlacedRow): string {
  const under = row.place === null ? '' : ` of ${row.place}`
  return `${quote(row.name)} (${toServer(row).address})${under}`
}

function tellField(field: keyof PlacedRow, before: PlacedRow, row: PlacedRow): string {
  if (field === 'place') return `${before.place ?? 'personal'} → ${row.place ?? 'personal'}`
  const value = ({ updated_at, ...server }: PlacedRow) =>
    field === 'updated_at' ? formatInstant(updated_at) : server[field]
  const name = field === 'host_label' ? 'address' : field
  return `${name} ${quote(value(before))} → ${quote(value(row))}`
}
