import { quote } from '../../model/text.ts'
import { INITIAL } from '../../servers/fields.ts'
import { isChanged, type PlacedServer, planServers } from '../../servers/plan.ts'
import type { Reason, RowOf } from '../document.ts'
import type { SiteUser } from '../user.ts'
import { memberKey, type Planning, type Refuse } from './planning.ts'

type Row = RowOf<'put_servers'>

/** Puts the servers of each owner, and removes those that an owner's whole list lacks. */
export function putServers(planning: Planning): void {
  const { document, find, hand, servers, whole: file, count, each } = planning
  const { put_servers = [], all_servers_of = [] } = document
  const whole = new Set(all_servers_of.map((row) => find(row)?.id))
  const owned = new Map<string, Turn[]>()
  each('put_servers', (row, owner, refuse, done) => {
    if (owner === null) refuse('no such user')
    else if (hand === 'site') putOfSite(row, owner, planning, refuse, done)
    else {
      const turns = owned.get(owner.id) ?? []
      owned.set(owner.id, turns)
      turns.push({ ...row, refuse, done })
    }
  })
  const present = Map.groupBy(servers.rows(), ({ created_by }) => created_by)
  const ids = file?.servers ?? new Set(put_servers.map(({ id }) => id))
  for (const userId of new Set([...owned.keys(), ...whole])) {
    if (userId === undefined) continue
    const own = present.get(userId) ?? []
    const isWhole = whole.has(userId)
    const absent = putOfOperator(owned.get(userId) ?? [], own, userId, isWhole, planning)
    for (const { id, organization } of isWhole ? absent : [])
      if (organization === null && !ids.has(id) && servers.remove(id))
        count('put_servers', 'removed')
  }
}

/** A row of an operator, and what is told of it. */
type Turn = Row & { refuse: Refuse; done(what: 'added' | 'changed' | null): void }

/** Takes the texts of a site as they are. */
function putOfSite(
  row: Row,
  owner: SiteUser,
  planning: Planning,
  refuse: Refuse,
  done: Turn['done'],
): void {
  const { servers, now, isOurs } = planning
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
  if (reason === null) done(servers.put(after))
  else refuse(reason)
}

/** The most code points of a field, if not 64. */
const LENGTHS: Record<string, number> = { name: 200, address: 255, slug: 200 }
const FILLED = ['name', 'address', 'edition', 'status']

function wrongText(fields: object): Reason | null {
  const texts = Object.entries(fields).filter(([, text]) => text !== null) as [string, string][]
  if (texts.some(([, text]) => /\p{Cc}/u.test(text))) return 'not one line'
  if (texts.some(isLong)) return 'too long'
  return texts.some(([name, text]) => text === '' && FILLED.includes(name)) ? 'empty' : null
}

function isLong([name, text]: [string, string]): boolean {
  const most = LENGTHS[name] ?? 64
  return text.length > most && [...text].length > most
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
  rows: readonly Turn[],
  own: readonly PlacedServer[],
  userId: string,
  prunes: boolean,
  planning: Planning,
): readonly PlacedServer[] {
  const { servers, now, dated, makeId } = planning
  // A server that another user has becomes one of this user.
  const named = rows.flatMap(({ id = '' }) => servers.get(id) ?? [])
  const others = named.filter(({ created_by }) => created_by !== userId)
  const moved = others.map((server) => ({ ...server, created_by: userId }))
  const { planned, absent, mistakes } = planServers([...own, ...moved], rows, {
    userId,
    now,
    prunes,
    declares: true,
    makeId,
    nameOf: (position) => rows[position]!.place,
  })
  for (const { position, field, message } of mistakes)
    rows[position]!.refuse('mistake', field, message)
  for (const { position, after, isDated } of planned) {
    const { refuse, done } = rows[position]!
    const before = servers.get(after.id)
    const told = `must have the user as a member: ${quote(after.organization)}`
    if (wrongPlace(before, after, planning) !== null) refuse('not a member', 'organization', told)
    else {
      if (isDated) dated.add(after.id)
      else if (isChanged(before, after)) after.updated_at = now
      done(servers.put(after))
    }
  }
  return absent
}

export function removeServers({ servers, isOurs, each }: Planning): void {
  each('remove_servers', ({ id }, _, refuse, done) => {
    const server = servers.get(id)
    if (server === null) return
    if (!isOurs(server.created_by)) refuse('of another account')
    else if (servers.remove(id)) done('removed')
  })
}
