import type { AddressedUser } from '../../listing/accounts/user.ts'
import type { Organization } from '../../listing/organization.ts'
import type {
  DeclaredMember,
  DeclaredOrganization,
  DeclaredUser,
  StateComplaint,
} from '../../listing/state/declared-state.ts'
import type { StateChange, StateOptions, StoredMember } from '../../listing/state/state-store.ts'
import { quote } from '../../listing/text.ts'
import type { People } from './stored-state.ts'
import { additionOf, newUser, type Planned } from './planned-user.ts'

export interface OrganizationPlan {
  organization: Organization
  isNew: boolean
  isRenamed: boolean
  /** Members that don't exist yet. */
  addedUsers: AddressedUser[]
  added: StoredMember[]
  /** Members with another role. */
  changed: StoredMember[]
  removed: StoredMember[]
}

/** `users` are those of the file. */
export function planOrganization(
  declared: DeclaredOrganization,
  users: readonly DeclaredUser[],
  stored: People,
  options: StateOptions,
): Planned<OrganizationPlan> {
  const { slug, name } = declared
  const known = stored.organizations.find((one) => one.slug === slug)
  const organization = { id: known?.id ?? declared.id ?? crypto.randomUUID(), slug, name }
  const isRenamed = known !== undefined && known.name !== name
  const people = planPeople(declared, users, stored, options)
  const members = planMembers(declared, organization.id, people, users, stored, options)
  const of = { kind: 'organization', of: slug } as const
  const changes: StateChange[] = [
    ...(known === undefined ? [{ ...of, action: 'add' as const, text: quote(name) }] : []),
    ...(isRenamed
      ? [{ ...of, action: 'change' as const, text: `name ${quote(known.name)} → ${quote(name)}` }]
      : []),
    ...members.changes.map((change) => ({ ...change, of: slug })),
    ...people.added.map(({ email }) => additionOf(email)),
  ]
  const { added, changed, removed } = members
  return {
    plan: {
      organization,
      isNew: known === undefined,
      isRenamed,
      addedUsers: people.added,
      added,
      changed,
      removed,
    },
    changes,
    kept: [],
    complaints: complaintsAbout(declared, stored),
  }
}

interface MemberIds {
  added: AddressedUser[]
  /** By email address. */
  ids: Map<string | null, string>
}

/** The members as users, with those that have to be added. */
function planPeople(
  { members = [] }: DeclaredOrganization,
  users: readonly DeclaredUser[],
  stored: People,
  { now }: StateOptions,
): MemberIds {
  const ids = new Map(stored.users.map(({ id, email }) => [email, id]))
  const missing = new Set(members.map(({ email }) => email).filter((email) => !ids.has(email)))
  const added = users
    .filter(({ email }) => missing.has(email))
    .map((user) => newUser(user, now))
    .toSorted((one, other) => (one.email < other.email ? -1 : 1))
  for (const { id, email } of added) ids.set(email, id)
  return { added, ids }
}

function planMembers(
  { members }: DeclaredOrganization,
  organization_id: string,
  { ids }: MemberIds,
  users: readonly DeclaredUser[],
  stored: People,
  { prune, now }: StateOptions,
) {
  const before = stored.members.filter((one) => one.organization_id === organization_id)
  const changes: Omit<StateChange, 'of'>[] = []
  const [added, changed]: StoredMember[][] = [[], []]
  const memberOf = ({ email, role, joined_at = now }: DeclaredMember): StoredMember => {
    return { organization_id, user_id: ids.get(email)!, role, joined_at }
  }
  for (const one of members ?? []) {
    const member = memberOf(one)
    const known = before.find(({ user_id }) => user_id === member.user_id)
    if (known?.role === one.role) continue
    const action = known === undefined ? 'add' : 'change'
    ;(known === undefined ? added : changed)!.push(member)
    const role = known === undefined ? one.role : `${known.role} → ${one.role}`
    changes.push({ action, kind: 'member', text: `${one.email} (${role})` })
  }
  const listed = new Set(members?.map(({ email }) => ids.get(email)))
  const inFile = new Map(users.map(({ email }) => [ids.get(email), email]))
  const removed =
    prune && members !== undefined
      ? before.filter(({ user_id }) => inFile.has(user_id) && !listed.has(user_id))
      : []
  for (const { user_id } of removed)
    changes.push({ action: 'remove', kind: 'member', text: inFile.get(user_id)! })
  return { added: added!, changed: changed!, removed, changes }
}

function complaintsAbout(
  { place, id, slug, members }: DeclaredOrganization,
  stored: People,
): StateComplaint[] {
  const known = stored.organizations.find((one) => one.slug === slug)
  if (known === undefined && members === undefined)
    return [{ place: `${place}.members`, message: 'is missing; a new organization needs an owner' }]
  if (id === undefined || id === known?.id) return []
  if (known !== undefined)
    return [
      { place: `${place}.id`, message: `must be the id of ${slug}, ${known.id}, or be left out` },
    ]
  const other = stored.organizations.find((one) => one.id === id)
  return other === undefined
    ? []
    : [{ place: `${place}.id`, message: `is the id of the organization ${other.slug}` }]
}
