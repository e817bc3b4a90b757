import { createOrderedIds } from '../../database/ordered-ids.ts'
import { quote } from '../../model/text.ts'
import { INITIAL } from '../../servers/fields.ts'
import { isChanged, type PlacedServer, planServers } from '../../servers/plan.ts'
import type { Reason, RowOf } from '../document.ts'
import type { SiteUser } from '../user.ts'
import { memberKey, type Planning } from './planning.ts'

type Row = RowOf<'put_servers'>

/** Puts the servers of each owner, and removes those that an owner's whole list lacks. */
export function putServers(planning: Planning): void {
  const { document, find, hand, servers, whole: file, count, refuse } = planning
  const { put_servers = [], all_servers_of = [] } = document
  const owned = new Map<string, Row[]>()
  for (const row of all_servers_of) owned.set(find(row)?.id ?? '', [])
  const whole = new Set(owned.keys())
  for (const row of put_servers) {
    const owner = find(row)
    if (owner === null) refuse('put_servers', row, 'no such user', undefined, 'names no user here')
    else if (hand === 'site') putOfSite(row, owner, planning)
    else owned.set(owner.id, [...(owned.get(owner.id) ?? []), row])
  }
  const present = Map.groupBy(servers.rows(), ({ created_by }) => created_by)
  const ids = file?.servers ?? new Set(put_servers.map(({ id }) => id))
  for (const [userId, rows] of owned) {
    const own = present.get(userId) ?? []
    const absent =
      hand === 'site' ? own : putOfOperator(rows, own, userId, whole.has(userId), planning)
    if (!whole.has(userId)) continue
    for (const { id, organization } of absent)
      if (organization === null && !ids.has(id) && servers.remove(id))
        count('put_servers', 'removed')
  }
}

/** The most code points of a field. */
const LENGTHS = { name: 200, address: 255, slug: 200 }

/** Takes the texts of a site as they are. */
function putOfSite(row: Row, owner: SiteUser, planning: Planning): void {
  const { servers, now, count, refuse, isOurs } = planning
  const { id = '', organization, entry } = row
  const { updated_at, ...fields } = entry
  const before = servers.get(id)
  const after: PlacedServer = {
    ...INITIAL,
    organization: null,
    updated_at: now,
    ...before,
    ...fields,
    ...(organization !== undefined && { organization }),
    id,
    created_by: owner.id,
  }
  const reason =
    before !== null && !isOurs(before.created_by)
      ? 'of another account'
      : (wrongText(fields) ?? wrongPlace(before, after, planning))
  if (updated_at !== undefined) after.updated_at = updated_at
  else if (isChanged(before, after)) after.updated_at = now
  if (reason === null) count('put_servers', servers.put(after))
  else refuse('put_servers', row, reason)
}

function wrongText(fields: object): Reason | null {
  const texts = Object.entries(fields).filter(([name]) => name !== 'id') as [
    string,
    string | null,
  ][]
  for (const [name, text] of texts) {
    if (text === null) continue
    if (/\p{Cc}/u.test(text)) return 'not one line'
    const most = LENGTHS[name as keyof typeof LENGTHS] ?? 64
    if (text.length > most && [...text].length > most) return 'too long'
    if (
      text === '' &&
      (name === 'name' || name === 'address' || INITIAL[name as 'edition'] !== null)
    )
      return 'empty'
  }
  return null
}

/** A server that gets into an organization or to an owner needs the owner as a member there. */
function wrongPlace(
  before: PlacedServer | null,
  { organization, created_by: user_id }: PlacedServer,
  { hasOrganization, members }: Planning,
): 'no such organization' | 'not a member' | null {
  if (organization === null) return null
  if (organization === before?.organization && user_id === before.created_by) return null
  if (!hasOrganization(organization)) return 'no such organization'
  return members.get(memberKey({ slug: organization, user_id })) === null ? 'not a member' : null
}

/** Returns the servers of the user that no row means. */
function putOfOperator(
  rows: readonly Row[],
  own: readonly PlacedServer[],
  userId: string,
  prunes: boolean,
  planning: Planning,
): readonly PlacedServer[] {
  const { servers, now, count, refuse, dated } = planning
  const complain = (position: number, field: string, told: string) =>
    refuse('put_servers', rows[position]!, 'of another account', field, told)
  // A server that another user has becomes one of this user.
  const named = rows.flatMap(({ id = '' }) => servers.get(id) ?? [])
  const others = named.filter(({ created_by }) => created_by !== userId)
  const moved = others.map((server) => ({ ...server, created_by: userId }))
  const { planned, absent, mistakes } = planServers([...own, ...moved], rows, {
    userId,
    now,
    prunes,
    declares: true,
    makeId: createOrderedIds(),
    nameOf: (position) => rows[position]!.place,
  })
  for (const { position, field, message } of mistakes) complain(position, field, message)
  for (const { position, after, isDated } of planned) {
    const before = servers.get(after.id)
    const told = `must have the user as a member: ${quote(after.organization)}`
    if (wrongPlace(before, after, planning) !== null) complain(position, 'organization', told)
    else {
      if (isDated) dated.add(after.id)
      else if (isChanged(before, after)) after.updated_at = now
      count('put_servers', servers.put(after))
    }
  }
  return absent
}

export function removeServers(planning: Planning): void {
  const { document, servers, isOurs, count, refuse } = planning
  for (const row of document.remove_servers ?? []) {
    const server = servers.get(row.id)
    if (server === null) continue
    if (!isOurs(server.created_by)) refuse('remove_servers', row, 'of another account')
    else if (servers.remove(row.id)) count('remove_servers', 'removed')
  }
}
