import { formatInstant } from '../../model/instant.ts'
import type { RegisteredServer } from '../../servers/server.ts'
import { toServer } from '../../model/server-row.ts'
import { complaintIn, type DeclaredServer } from '../declared-state.ts'
import { quote } from '../../model/text.ts'
import { applied, NEW_ROW } from '../../servers/records/import/values.ts'
import { createOrderedIds } from '../../database/ordered-ids.ts'
import {
  addChange,
  differences,
  type PlacedServer,
  type Planned,
  type Planning,
} from './changes.ts'
import type { Stored } from './stored-state.ts'

/** How the servers of a user become those that the file declares. */
export function planServers(
  planning: Planning,
  declared: readonly DeclaredServer[] | undefined,
  isMember: (slug: string) => boolean,
): void {
  const { plan, userId, stored, options } = planning
  const present = stored.serversOf(userId).map((server) => placed(server, stored))
  const matched = matchServers(planning, declared ?? [], present, isMember)
  for (const { declared: one, before, after } of matched) {
    const text = before === null ? tell(after) : tellChange(one, before, after)
    if (text !== null) addChange(plan, 'server', before, after, text)
  }
  const known = new Set(matched.map(({ before }) => before?.id))
  let absent = present.filter(({ id }) => !known.has(id))
  if (options.prune && declared !== undefined) {
    for (const server of absent) addChange(plan, 'server', server, null, tell(server))
    absent = []
  }
  complainAboutSlugs(plan, matched, absent)
}

interface Matched {
  declared: DeclaredServer
  before: PlacedServer | null
  after: PlacedServer
}

function matchServers(
  { plan, userId, stored, options }: Planning,
  declared: readonly DeclaredServer[],
  present: readonly PlacedServer[],
  isMember: (slug: string) => boolean,
): Matched[] {
  const bySlug = Map.groupBy(present, keyOf)
  const meant = new Map<string, string>()
  const makeId = createOrderedIds()
  return declared.flatMap((one): Matched[] => {
    const { id, entry } = one
    const complain = (field: string, message: string): [] => {
      plan.complaints.push(complaintIn(one, field, message))
      return []
    }
    const found =
      id === undefined
        ? (bySlug.get(keyOf({ slug: entry.slug ?? null, place: one.organization ?? null })) ?? [])
        : [stored.serversById.get(id)].flatMap((server) => (server ? [placed(server, stored)] : []))
    if (found.length > 1)
      return complain(
        'slug',
        `is the slug of ${found.length} servers of this user; give the "id" of one`,
      )
    const [before = null] = found
    if (before !== null && before.created_by !== userId)
      return complain('id', "is the id of another user's server")
    const twice = meant.get(before?.id ?? '')
    if (twice !== undefined) return complain('slug', `means the same server as ${twice}`)
    if (before !== null) meant.set(before.id, one.place)
    const place = one.organization === undefined ? (before?.place ?? null) : one.organization
    if (place !== null && place !== before?.place && !isMember(place))
      return complain('organization', `must have the user as a member: ${quote(place)}`)
    const row = applied(entry, before ?? { ...NEW_ROW, id: id ?? makeId() }, options.now)
    return [{ declared: one, before, after: { ...row, created_by: userId, place } }]
  })
}

function complainAboutSlugs(
  plan: Planned,
  matched: readonly Matched[],
  left: readonly PlacedServer[],
): void {
  const taken = new Map(left.map((server) => [keyOf(server), quote(server.name)]))
  for (const { declared, after } of matched) {
    if (after.slug === null) continue
    const other = taken.get(keyOf(after))
    taken.set(keyOf(after), declared.place)
    if (other === undefined) continue
    const message = `is the slug of another server of this user: ${other}`
    plan.complaints.push(complaintIn(declared, 'slug', message))
  }
}

const keyOf = ({ slug, place }: Pick<PlacedServer, 'slug' | 'place'>): string =>
  `${place ?? ''}/${slug ?? ''}`

function placed(server: RegisteredServer, { slugOf }: Stored): PlacedServer {
  const { address, organization_id, ...row } = server
  return { ...row, host_label: address, place: slugOf(organization_id) }
}

function tell(row: PlacedServer): string {
  const under = row.place === null ? '' : ` of ${row.place}`
  return `${quote(row.name)} (${toServer(row).address})${under}`
}

/** Null if the server stays as it is. An instant that the file lacks is no change. */
function tellChange(one: DeclaredServer, before: PlacedServer, after: PlacedServer): string | null {
  const isTimed = one.entry.updated_at !== undefined
  const shown = ({ host_label: address, place: _place, updated_at, ...row }: PlacedServer) => ({
    ...row,
    updated_at: isTimed ? formatInstant(updated_at) : '',
    address,
  })
  const told = differences(shown(before), shown(after))
  if (after.place !== before.place)
    told.push(`${before.place ?? 'personal'} → ${after.place ?? 'personal'}`)
  return told.length === 0
    ? null
    : `${quote(before.name)} (${before.host_label}): ${told.join(', ')}`
}
