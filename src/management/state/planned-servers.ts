import type { StateComplaint, DeclaredServer } from '../../listing/state/declared-state.ts'
import type { StateChange, StoredServer } from '../../listing/state/state-store.ts'
import { formatInstant } from '../../listing/instant.ts'
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
import type { Lookup } from './lookup.ts'
import type { Names } from './names.ts'

/** A server after the change. A place is the slug of an organization, or null. */
interface Target {
  row: ImportedRow
  place: string | null
}

export interface ServerPlan {
  added: Target[]
  changed: ChangedServer[]
  /** Servers that come under another organization, or become personal. */
  moved: { id: string; place: string | null }[]
  removed: string[]
}

export interface PlannedServers {
  plan: ServerPlan
  changes: Omit<StateChange, 'of'>[]
  complaints: StateComplaint[]
}

interface Matched {
  declared: DeclaredServer
  stored: StoredServer | null
  target: Target
}

/** How the servers of a user become those that the file declares. */
export function planServers(
  declared: readonly DeclaredServer[] | undefined,
  userId: string,
  stored: Lookup,
  names: Names,
  { prune, now }: { prune: boolean; now: number },
): PlannedServers {
  const plan: ServerPlan = { added: [], changed: [], moved: [], removed: [] }
  const changes: PlannedServers['changes'] = []
  const own = stored.serversOf(userId)
  const { matched, complaints } = matchServers(declared ?? [], userId, stored, names, now)
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
    const from = names.slugOf(before.organization_id)
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
    const text = tell(rowOf(server), names.slugOf(server.organization_id))
    changes.push({ action: 'remove', kind: 'server', text })
  }
  const left = absent.filter((one) => !removed.includes(one))
  return { plan, changes, complaints: [...complaints, ...slugsTaken(matched, left, names)] }
}

function matchServers(
  declared: readonly DeclaredServer[],
  userId: string,
  stored: Lookup,
  names: Names,
  now: number,
): { matched: Matched[]; complaints: StateComplaint[] } {
  const complaints: StateComplaint[] = []
  const own = stored.serversOf(userId)
  const bySlug = Map.groupBy(own, ({ slug, organization_id }) =>
    keyOf(slug, names.slugOf(organization_id)),
  )
  const places = new Map<string, string>()
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
    const before = found[0] ?? null
    if (before !== null && before.created_by !== userId)
      return complain('id', "is the id of another user's server")
    const twice = before === null ? undefined : places.get(before.id)
    if (twice !== undefined) return complain('slug', `means the same server as ${twice}`)
    if (before !== null) places.set(before.id, at)
    const base = before === null ? { ...NEW_ROW, id: id ?? makeId() } : rowOf(before)
    const from = before === null ? null : names.slugOf(before.organization_id)
    const place = one.organization === undefined ? from : one.organization
    if (place !== null && (before === null || place !== from) && !names.isMember(userId, place))
      return complain('organization', `must have the user as a member: ${quote(place)}`)
    const row = { ...applied(entry, base, now) }
    return [{ declared: one, stored: before, target: { row, place } }]
  })
  return { matched, complaints }
}

function slugsTaken(
  matched: readonly Matched[],
  left: readonly StoredServer[],
  names: Names,
): StateComplaint[] {
  const taken = new Map(
    left.map((server) => [
      keyOf(server.slug, names.slugOf(server.organization_id)),
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

function rowOf(stored: StoredServer): ImportedRow {
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
