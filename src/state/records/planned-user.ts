import { createUser, nameOf, type User } from '../../accounts/user.ts'
import { formatInstant } from '../../model/instant.ts'
import { complaintIn, type DeclaredUser, type StateComplaint } from '../declared-state.ts'
import type { StateOptions } from '../state-store.ts'
import { quote } from '../../model/text.ts'
import { addChange, differences, emptyPlan, type Planned, type Planning } from './changes.ts'
import { planKeys } from './planned-keys.ts'
import { planOwnServers } from './planned-servers.ts'
import type { Stored } from './stored-state.ts'

/** Plans a user with the memberships, keys and servers of the user. */
export function planUser(record: DeclaredUser, stored: Stored, options: StateOptions): Planned {
  const before = stored.findUser(record) ?? null
  const after = before === null ? newUser(record, options.now) : changed(record, before)
  const plan = emptyPlan(record, after.id, nameOf(after))
  plan.complaints.push(...complaintsAbout(record, before, after, stored, options))
  const text = tellChange(before, after)
  if (text !== null) addChange(plan, 'user', before, after, text)
  const planning = { plan, userId: after.id, stored, options }
  const isMember = planMembers(planning, record.memberships)
  planKeys(planning, record.keys)
  planOwnServers(planning, record.servers, isMember)
  return plan
}

function newUser(record: DeclaredUser, now: number): User {
  const { id, email = null, external_id = null, created_at = now } = record
  const { disabled_at = null, banned_at = null } = record
  const ended = { disabled_at, banned_at }
  return { ...createUser(email, external_id), ...(id && { id }), created_at, ...ended }
}

/** A field that the file leaves out keeps its value. The first instant of a disabled user stays. */
function changed(record: DeclaredUser, before: User): User {
  const { email = before.email, external_id = before.external_id } = record
  const { disabled_at = before.disabled_at, banned_at = before.banned_at } = record
  return {
    ...before,
    email,
    external_id,
    disabled_at: disabled_at === null ? null : (before.disabled_at ?? disabled_at),
    banned_at: banned_at === null ? null : (before.banned_at ?? banned_at),
  }
}

/** Null if the user stays as it is. */
function tellChange(before: User | null, after: User): string | null {
  const disabled =
    after.disabled_at === null ? '' : `disabled at ${formatInstant(after.disabled_at)}`
  const banned = after.banned_at === null ? '' : `banned at ${formatInstant(after.banned_at)}`
  if (before === null) return [disabled, banned].filter(Boolean).join(', ')
  const told = differences(before, after, ['external_id', 'email'])
  if (after.disabled_at !== before.disabled_at) told.push(disabled || 'enabled')
  if (after.banned_at !== before.banned_at) told.push(banned || 'unbanned')
  return told.length === 0 ? null : told.join(', ')
}

/** Returns whether the user is a member afterwards. */
function planMembers(
  { plan, userId: user_id, stored, options: { prune, now, organizations } }: Planning,
  memberships: DeclaredUser['memberships'],
): (slug: string) => boolean {
  const known = new Map(
    stored.membersOf(user_id).map(({ organization_id, role, joined_at }) => {
      const slug = stored.slugOf(organization_id)!
      return [slug, { slug, user_id, role, joined_at }]
    }),
  )
  const left = new Set(known.keys())
  for (const [slug, { role, joined_at = now }] of memberships) {
    const before = known.get(slug) ?? null
    left.add(slug)
    if (before?.role === role) continue
    const told = before === null ? role : `${before.role} → ${role}`
    const after = { slug, user_id, joined_at, ...before, role }
    addChange(plan, 'member', before, after, `of ${slug} (${told})`)
    plan.memberships.push(after)
  }
  for (const [slug, before] of prune ? known : []) {
    if (memberships.has(slug) || organizations.get(slug)?.members === undefined) continue
    left.delete(slug)
    addChange(plan, 'member', before, null, `of ${slug}`)
    plan.memberships.push({ slug, role: null })
  }
  return (slug) => left.has(slug)
}

function complaintsAbout(
  record: DeclaredUser,
  known: User | null,
  user: User,
  { findUser }: Stored,
  { needsUsers = false }: StateOptions,
): StateComplaint[] {
  const { place, id, email } = record
  const other = findUser({ email })
  if (other !== undefined && other !== known)
    return [
      complaintIn(
        record,
        'email',
        `is the address of another user, whose id is ${other.id}` +
          `${other.external_id === null ? '' : ` and external id ${quote(other.external_id)}`}. ` +
          'Change the address of that user first, in a run of its own',
      ),
    ]
  if (known === null && needsUsers)
    return [{ place, message: `means no user here, ${quote(nameOf(user))}; add the user first` }]
  if (known !== null && id !== undefined && id !== known.id)
    return [
      complaintIn(record, 'id', `must be the id of ${nameOf(known)}, ${known.id}, or be left out`),
    ]
  if (user.email !== null || user.external_id !== null) return []
  // A user with an identity needs neither.
  if (known !== null && known.email === null && known.external_id === null) return []
  return [{ place, message: 'needs an "email" or an "external_id"' }]
}
