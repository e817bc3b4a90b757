import { createUser, nameOf, type User } from '../../listing/accounts/user.ts'
import { formatInstant } from '../../listing/instant.ts'
import type { Role } from '../../listing/organization.ts'
import type { DeclaredUser, StateComplaint } from '../../listing/state/declared-state.ts'
import type { RecordPlan, StateChange, StateOptions } from '../../listing/state/state-store.ts'
import { quote } from '../../listing/text.ts'
import { planKeys } from './planned-keys.ts'
import { planServers } from './planned-servers.ts'
import type { Stored } from './stored-state.ts'

export type PlannedUser = ReturnType<typeof planUser>

/** A membership that changes. Null: there is none. */
export interface PlannedMember {
  slug: string
  before: Role | null
  role: Role | null
  joined_at: number
}

export function planUser(record: DeclaredUser, stored: Stored, options: StateOptions) {
  const before = findKnown(record, stored)
  const user = before === undefined ? newUser(record, options.now) : changed(record, before)
  const { members, isMember } = planMembers(record, user.id, stored, options)
  const keys = planKeys(record.keys, user.id, stored, options)
  const slugOf = (id: string | null) => stored.organizationsById.get(id ?? '')?.slug ?? null
  const servers = planServers(record.servers, user.id, { stored, slugOf, isMember }, options)
  const of = nameOf(user)
  const changes = [
    changesOfUser(before, user),
    members.map(tellMember),
    keys.changes,
    servers.changes,
  ]
  const slugs = (isOwner: boolean) =>
    members.flatMap(({ slug, role }) => ((role === 'owner') === isOwner ? [slug] : []))
  const plan: RecordPlan = {
    record,
    userId: user.id,
    of,
    changes: changes.flat().map(({ text, ...change }) => ({ ...change, of, text })),
    keptRevoked: keys.kept,
    complaints: [
      ...complaintsAbout(record, before, user, stored, options),
      ...keys.complaints,
      ...servers.complaints,
    ],
    owns: slugs(true),
    needs: slugs(false),
  }
  /** `before` is undefined for a new user. */
  const keyIds = stored.keysOf(user.id).map(({ id }) => id)
  return { ...plan, before, user, members, keys, keyIds, servers }
}

/** An address alone does not mean a user to whom the site gave another external id. */
function findKnown({ external_id, id, email }: DeclaredUser, stored: Stored): User | undefined {
  const { usersByName } = stored
  const known =
    (external_id ? usersByName.external_id.get(external_id) : undefined) ??
    usersByName.id.get(id ?? '')
  if (known !== undefined || !email) return known
  const byEmail = usersByName.email.get(email)
  return external_id && byEmail?.external_id ? undefined : byEmail
}

function newUser(record: DeclaredUser, now: number): User {
  const { id, email = null, external_id = null, created_at = now, disabled_at = null } = record
  return { ...createUser(email, external_id), ...(id && { id }), created_at, disabled_at }
}

/** A field that the file leaves out keeps its value. The first instant of a disabled user stays. */
function changed(record: DeclaredUser, before: User): User {
  const { email = before.email, external_id = before.external_id } = record
  const { disabled_at: at = before.disabled_at } = record
  const disabled_at = at === null ? null : (before.disabled_at ?? at)
  return { ...before, email, external_id, disabled_at }
}

type Change = Omit<StateChange, 'of'>

function changesOfUser(before: User | undefined, user: User): Change[] {
  const disabled = user.disabled_at === null ? '' : `disabled at ${formatInstant(user.disabled_at)}`
  if (before === undefined) return [{ action: 'add', kind: 'user', text: disabled }]
  const told = (['external_id', 'email'] as const).flatMap((field) =>
    user[field] === before[field]
      ? []
      : [`${field} ${quote(before[field])} → ${quote(user[field])}`],
  )
  if (user.disabled_at !== before.disabled_at) told.push(disabled || 'enabled')
  return told.length === 0 ? [] : [{ action: 'change', kind: 'user', text: told.join(', ') }]
}

function planMembers(
  { memberships }: DeclaredUser,
  userId: string,
  stored: Stored,
  { prune, now, organizations }: StateOptions,
): { members: PlannedMember[]; isMember: (slug: string) => boolean } {
  const roles = new Map(
    stored
      .membersOf(userId)
      .map((one) => [stored.organizationsById.get(one.organization_id)!.slug, one.role]),
  )
  const after = new Map(roles)
  const members: PlannedMember[] = []
  for (const [slug, { role, joined_at = now }] of memberships) {
    const before = roles.get(slug) ?? null
    if (before !== role) members.push({ slug, before, role, joined_at })
    after.set(slug, role)
  }
  for (const [slug, before] of prune ? roles : []) {
    if (memberships.has(slug) || organizations.get(slug)?.members === undefined) continue
    members.push({ slug, before, role: null, joined_at: now })
    after.delete(slug)
  }
  return { members, isMember: (slug) => after.has(slug) }
}

function tellMember({ slug, before, role }: PlannedMember): Change {
  if (role === null) return { action: 'remove', kind: 'member', text: `of ${slug}` }
  return before === null
    ? { action: 'add', kind: 'member', text: `of ${slug} (${role})` }
    : { action: 'change', kind: 'member', text: `of ${slug} (${before} → ${role})` }
}

function complaintsAbout(
  { place, id, email }: DeclaredUser,
  known: User | undefined,
  user: User,
  { usersByName }: Stored,
  { needsUsers = false }: StateOptions,
): StateComplaint[] {
  const complain = (field: string, message: string) => [{ place: `${place}${field}`, message }]
  const other = email ? usersByName.email.get(email) : undefined
  if (other !== undefined && other !== known)
    return complain(
      '.email',
      `is the address of another user, whose id is ${other.id}` +
        `${other.external_id === null ? '' : ` and external id ${quote(other.external_id)}`}. ` +
        'Change the address of that user first, in a run of its own',
    )
  if (known === undefined && needsUsers)
    return complain('', `means no user here, ${quote(nameOf(user))}; add the user first`)
  if (known !== undefined && id !== undefined && id !== known.id)
    return complain('.id', `must be the id of ${nameOf(known)}, ${known.id}, or be left out`)
  if (user.email !== null || user.external_id !== null) return []
  // A user with an identity needs neither.
  if (known !== undefined && known.email === null && known.external_id === null) return []
  return complain('', 'needs an "email" or an "external_id"')
}
