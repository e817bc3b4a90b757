import { type AddressedUser, checkEmail, createUser } from '../../listing/accounts/user.ts'
import type { DeclaredUser, StateComplaint } from '../../listing/state/declared-state.ts'
import type { StateChange, StateOptions } from '../../listing/state/state-store.ts'
import type { Lookup } from './lookup.ts'
import type { Names } from './names.ts'
import { type KeyPlan, planKeys } from './planned-keys.ts'
import { planServers, type ServerPlan } from './planned-servers.ts'

export interface UserPlan {
  /** Null for a user that exists. */
  added: AddressedUser | null
  userId: string
  keys: KeyPlan
  servers: ServerPlan
}

/** What applying one record does, and the reasons why it can't. */
export interface Planned<Plan> {
  plan: Plan
  changes: StateChange[]
  kept: { of: string; text: string }[]
  complaints: StateComplaint[]
}

export function planUser(
  user: DeclaredUser,
  stored: Lookup,
  names: Names,
  options: StateOptions,
): Planned<UserPlan> {
  const known = stored.usersByEmail.get(user.email)
  const added = known === undefined ? newUser(user, options.now) : null
  const userId = known?.id ?? added!.id
  const keys = planKeys(user.keys, userId, stored, options)
  // The names of a state know a new user by the email address.
  const isMember = (id: string, slug: string) =>
    names.isMember(id === added?.id ? user.email : id, slug)
  const servers = planServers(user.servers, userId, stored, { ...names, isMember }, options)
  const changes = [
    ...(added === null ? [] : [additionOf(user.email)]),
    ...[...keys.changes, ...servers.changes].map((change) => ({ ...change, of: user.email })),
  ]
  return {
    plan: { added, userId, keys: keys.plan, servers: servers.plan },
    changes,
    kept: keys.kept.map((text) => ({ of: user.email, text })),
    complaints: [...complaintsAbout(user, stored), ...keys.complaints, ...servers.complaints],
  }
}

export function newUser({ id, email, created_at }: DeclaredUser, now: number): AddressedUser {
  return { ...createUser(email), ...(id && { id }), created_at: created_at ?? now }
}

export const additionOf = (email: string): StateChange => ({
  action: 'add',
  kind: 'user',
  of: email,
  text: '',
})

function complaintsAbout({ place, id, email }: DeclaredUser, stored: Lookup) {
  const known = stored.usersByEmail.get(email)
  const checked = checkEmail(email)
  if (known === undefined && 'complaint' in checked)
    return [{ place: `${place}.email`, message: checked.complaint }]
  if (id === undefined || id === known?.id) return []
  if (known !== undefined)
    return [
      { place: `${place}.id`, message: `must be the id of ${email}, ${known.id}, or be left out` },
    ]
  const other = stored.usersById.get(id)
  return other === undefined
    ? []
    : [{ place: `${place}.id`, message: `is the id of ${other.email}` }]
}
