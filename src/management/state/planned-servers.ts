import type { StateComplaint, DeclaredServer } from '../../listing/state/declared-state.ts'
import type { StateChange } from '../../listing/state/state-store.ts'
import { formatInstant } from '../../listing/instant.ts'
import type { RegisteredServer } from '../../listing/servers/registered-server.ts'
import { toServer } from '../../listing/servers/server.ts'
import { quote } from '../../listing/text.ts'
import {
  applied,
  changedFields,
  type ChangedServer,
  type ImportedRow,
  NEW_ROW,
  OPTIONAL,
} from '../servers/changed-server.ts'
import { createOrderedIds } from '../servers/ordered-ids.ts'
import type { Stored } from './stored-state.ts'

/** A server after the change. A place is the slug of an organization, or null. */
interface Target {
  row: ImportedRow
  place: string | null
}

export interface PlannedServers {
  added: Target[]
  changed: ChangedServer[]
  /** Servers that come under another organization, or become personal. */
  moved: { id: string; place: string | null }[]
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

interface Matched {
  declared: DeclaredServer
  stored: RegisteredServer | null
  target: Target
}

/** How the servers of a user become those that the file declares. */
export function planServers(
  declared: readonly DeclaredServer[] | undefined,
  userId: string,
  places: Places,
  { prune, now }: { prune: boolean; now: number },
): PlannedServers {
  const plan = { added: [], changed: [], moved: [], removed: [], changes: [] } as Omit<
    PlannedServers,
    'complaints'
  >
  const { changes } = plan
  const own = places.stored.serversOf(userId)
  const { matched, complaints } = matchServers(declared ?? [], userId, places, now)
  const known = new Set(matched.map((one) => one.stored?.id))
  const absent = own.filter(({ id }) => !known.has(id))
  const removed = prune && declared !== undefined ? absent : []
  for (const { declared: one, stored: before, target } of matched) {
    if (before === null) {
      plan.added.push(target)
      changes.push({ action: 'add', kind: 'server', text: tell(target.row, target.place) })
      continue
    }
    const change = { stored: rowOf(before), row: target.row, named: namedIn(one) }
    const from = places.slugOf(before.organization_id)
    const isMoved = from !== target.place
    const fields = changedFields(change)
    if (fields.length === 0 && !isMoved) continue
    plan.changed.push(change)
    if (isMoved) plan.moved.push({ id: before.id, place: target.place })
    const told = fields.map((field) => tellField(change, field))
    if (isMoved) told.push(`${from ?? 'personal'} → ${target.place ?? 'personal'}`)
    const text = `${quote(before.name)} (${before.address}): ${told.join(', ')}`
    changes.push({ action: 'change', kind: 'server', text })
  }
  for (const server of removed) {
    plan.removed.push(server.id)
    const text = tell(rowOf(server), places.slugOf(server.organization_id))
    changes.push({ action: 'remove', kind: 'server', text })
  }
  const left = removed.length === 0 ? absent : []
  return { ...plan, complaints: [...complaints, ...slugsTaken(matched, left, places)] }
}

function matchServers(
  declared: readonly DeclaredServer[],
  userId: string,
  places: Places,
  now: number,
): { matched: Matched[]; complaints: StateComplaint[] } {
  const complaints: StateComplaint[] = []
  const own = places.stored.serversOf(userId)
  const bySlug = Map.groupBy(own, ({ slug, organization_id }) =>
    keyOf(slug, places.slugOf(organization_id)),
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
        : [places.stored.serversById.get(id)].filter((server) => server !== undefined)
    if (found.length > 1)
      return complain(
        'slug',
        `is the slug of ${found.length} servers of this user; give the "id" of one`,
      )
    const before = found[0] ?? null
    if (before !== null && before.created_by !== userId)
      return complain('id', "is the id of another user's server")
    const twice = before === null ? undefined : meant.get(before.id)
    if (twice !== undefined) return complain('slug', `means the same server as ${twice}`)
    if (before !== null) meant.set(before.id, at)
    const base = before === null ? { ...NEW_ROW, id: id ?? makeId() } : rowOf(before)
    const from = before === null ? null : places.slugOf(before.organization_id)
    const place = one.organization === undefined ? from : one.organization
    if (place !== null && (before === null || place !== from) && !places.isMember(place))
      return complain('organization', `must have the user as a member: ${quote(place)}`)
    const row = { ...applied(entry, base, now) }
    return [{ declared: one, stored: before, target: { row, place } }]
  })
  return { matched, complaints }
}

function slugsTaken(
  matched: readonly Matched[],
  left: readonly RegisteredServer[],
  places: Places,
): StateComplaint[] {
  const taken = new Map(
    left.map((server) => [
      keyOf(server.slug, places.slugOf(server.organization_id)),
      quote(server.name),
    ]),
  )
  return matched.flatMap(({ declared, target: { row, place } }) => {
    const key = keyOf(row.slug, place)
    const other = taken.get(key)
    if (row.slug === null) return []
    taken.set(key, declared.place)
    if (other === undefined) return []
    return [
      {
        place: `${declared.place}.slug`,
        message: `is the slug of another server of this user: ${other}`,
      },
    ]
  })
}

const keyOf = (slug: string | null, place: string | null): string => `${place ?? ''}/${slug ?? ''}`

function namedIn({ entry }: DeclaredServer): ChangedServer['named'] {
  return new Set(OPTIONAL.filter((field) => entry[field] !== undefined))
}

function rowOf(stored: RegisteredServer): ImportedRow {
  const { id, name, slug, address, edition, status, version, listing_kind, updated_at } = stored
  const row = { id, name, slug, host_label: address, edition, status, version, listing_kind }
  return { ...row, updated_at }
}

function tell(row: ImportedRow, place: string | null): string {
  const under = place === null ? '' : ` of ${place}`
  return `${quote(row.name)} (${toServer(row).address})${under}`
}

function tellField({ stored, row }: ChangedServer, field: keyof ImportedRow): string {
  const value = ({ updated_at, ...server }: ImportedRow) =>
    field === 'updated_at' ? formatInstant(updated_at) : server[field]
  const name = field === 'host_label' ? 'address' : field
  return `${name} ${quote(value(stored))} → ${quote(value(row))}`
}
