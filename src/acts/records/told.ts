import { nameOf } from '../../accounts/user.ts'
import { formatInstant } from '../../model/instant.ts'
import { quote } from '../../model/text.ts'
import { valuesOf } from '../../servers/fields.ts'
import type { PlacedServer } from '../../servers/plan.ts'
import type { SiteUser } from '../user.ts'
import type { Change } from './draft.ts'
import type { Planning } from './planning.ts'
import type { StoredKey } from './stored.ts'

/** A change in words. */
export interface ToldChange {
  action: 'add' | 'change' | 'remove'
  kind: 'user' | 'organization' | 'member' | 'server' | 'key'
  /** The name of the user, or the slug of the organization. */
  of: string
  /** The rest of a line for people. */
  text: string
}

/** What a plan changes, in words that do not depend on the present instant. */
export function tellChanges(planning: Planning): ToldChange[] {
  const { users, removed } = planning
  const told: ToldChange[] = []
  const add = <Row>(kind: ToldChange['kind'], of: string, change: Change<Row>, text: string) => {
    const { before, after } = change
    const action = before === null ? 'add' : after === null ? 'remove' : 'change'
    told.push({ action, kind, of, text })
  }
  const name = (userId: string) => nameOf(users.get(userId)!)
  for (const change of planning.organizations.changes()) {
    const { slug, name: called } = (change.after ?? change.before)!
    const texts = change.before && change.after ? differences(change.before, change.after) : []
    add('organization', slug, change, texts.join(', ') || quote(called))
  }
  for (const change of users.changes())
    add('user', nameOf(change.after!), change, tellUser(change.before, change.after!))
  for (const change of planning.members.changes()) {
    const { before, after } = change
    const { slug, user_id } = (after ?? before)!
    const role = before && after ? `${before.role} → ${after.role}` : after?.role
    add('member', name(user_id), change, `of ${slug}${role === undefined ? '' : ` (${role})`}`)
  }
  for (const { before, after } of planning.keys.changes()) {
    const isEnd = before !== null && before.revoked_at !== after!.revoked_at
    const change = { before, after: isEnd ? null : after }
    add('key', name(after!.user_id), change, tellKey(before, after!, isEnd))
  }
  for (const change of planning.servers.changes()) {
    const { created_by, id } = (change.after ?? change.before)!
    add('server', name(created_by), change, tellServer(change, planning.dated.has(id), name))
  }
  for (const user of removed.values()) add('user', nameOf(user), { before: user, after: null }, '')
  const ofEach = Map.groupBy(told, ({ of }) => of)
  // The users of the document come in its order, after organizations.
  for (const id of planning.places.keys()) {
    const of = nameOf(users.get(id) ?? { id, email: null, external_id: null })
    const own = ofEach.get(of)
    if (ofEach.delete(of)) ofEach.set(of, own!)
  }
  return [...ofEach.values()].flat()
}

/** What changes between two rows: each field that differs, with both of its values. */
function differences<Row extends object>(
  before: Row,
  after: Row,
  fields = Object.keys(before) as (keyof Row & string)[],
): string[] {
  return fields
    .filter((field) => after[field] !== before[field])
    .map((field) => `${field} ${quote(before[field])} → ${quote(after[field])}`)
}

function tellUser(before: SiteUser | null, { disabled_at, banned_at, ...after }: SiteUser): string {
  const disabled = disabled_at === null ? '' : `disabled at ${formatInstant(disabled_at)}`
  const told =
    before === null ? [] : differences(before, { ...before, ...after }, ['external_id', 'email'])
  if (disabled_at !== (before?.disabled_at ?? null)) told.push(disabled || 'enabled')
  if (banned_at !== (before?.banned_at ?? null))
    told.push(banned_at === null ? 'unbanned' : 'banned')
  return told.join(', ')
}

export const nameOfKey = ({ name, prefix }: Pick<StoredKey, 'name' | 'prefix'>): string =>
  `${quote(name)} (${prefix}…)`

function tellKey(before: StoredKey | null, after: StoredKey, isEnd: boolean): string {
  if (before === null) return `${nameOfKey(after)}${after.revoked_at === null ? '' : ', revoked'}`
  if (isEnd) return nameOfKey(before)
  const told = differences(before, after, ['name'])
  if (after.prefix !== before.prefix) told.push(`prefix ${before.prefix}… → ${after.prefix}…`)
  return `${nameOfKey(before)}: ${told.join(', ')}`
}

/** An instant that the document lacks is no change. */
function tellServer(
  { before, after }: Change<PlacedServer>,
  isDated: boolean,
  nameOfUser: (id: string) => string,
): string {
  const { name, address, organization } = (before ?? after)!
  const called = `${quote(name)} (${address})`
  if (before === null || after === null)
    return organization === null ? called : `${called} of ${organization}`
  const told = differences(valuesOf(before), valuesOf(after))
  if (isDated) {
    const [was, is] = [before, after].map(({ updated_at }) => formatInstant(updated_at))
    told.push(...differences({ updated_at: was }, { updated_at: is }))
  }
  if (after.organization !== before.organization)
    told.push(`${before.organization ?? 'personal'} → ${after.organization ?? 'personal'}`)
  if (after.created_by !== before.created_by)
    told.push(`${nameOfUser(before.created_by)} → ${nameOfUser(after.created_by)}`)
  return `${called}: ${told.join(', ')}`
}
