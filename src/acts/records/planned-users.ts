import { createUser, nameOf } from '../../accounts/user.ts'
import type { RowOf } from '../document.ts'
import { siteEmail } from '../email.ts'
import type { SiteUser } from '../user.ts'
import type { Planning, Refuse } from './planning.ts'

type Row = RowOf<'put_users'>

/** Frees all addresses that change before it gives any, so that users can swap theirs. */
export function putUsers(planning: Planning): void {
  const { document, users, finder, find, hand, now, count, each } = planning
  /** The addresses that rows want. Undefined: the user keeps theirs. */
  const wanted = new Map<Row, { after: SiteUser; email: string | null | undefined }>()
  each('put_users', (row, before, refuse) => {
    const after = become(row, before, planning)
    if (hand === 'operator' && isWrong(row, before, after, planning, refuse)) return
    const email = hand === 'site' ? emailOfSite(row, after, planning, refuse) : row.email
    wanted.set(row, { after, email })
  })
  for (const { after, email } of wanted.values())
    if (after.email && email !== undefined && email !== after.email) finder.free(after.email)
  each('put_users', (row, before, refuse, done) => {
    const { after, email } = wanted.get(row) ?? {}
    if (after === undefined) return
    if (email !== undefined) {
      const isTaken =
        email !== null && email !== before?.email && finder.holderOf(email) !== undefined
      if (isTaken) refuse('address taken', 'email')
      after.email = isTaken ? null : email
    }
    if (hand === 'site' && row.banned_at === null && after.disabled_at !== null)
      refuse('disabled by an operator')
    finder.add(after)
    done(users.put(after))
  })
  for (const row of document.banned ?? []) {
    const user = find(row)
    if (user?.banned_at === null && users.put({ ...user, banned_at: now }))
      count('put_users', 'banned')
  }
}

function become(row: Row, before: SiteUser | null, { now }: Planning): SiteUser {
  const { user_id, external_id = null, created_at = now } = row
  const created = { ...createUser(null, external_id), created_at, banned_at: null }
  const after: SiteUser = before ?? { ...created, ...(user_id && { id: user_id }) }
  const given = { ...after, ...row }
  return {
    ...after,
    external_id: given.external_id,
    banned_at: given.banned_at,
    // The first instant of a disabled user stays.
    disabled_at: given.disabled_at && (after.disabled_at ?? given.disabled_at),
  }
}

/** The mistakes of an operator. */
function isWrong(
  { user_id, email, place }: Row,
  before: SiteUser | null,
  after: SiteUser,
  { places, isOperator }: Planning,
  refuse: Refuse,
): boolean {
  const earlier = places.get(after.id)
  places.set(after.id, place)
  const isNamed = (email === undefined ? after.email : email) ?? after.external_id
  // A user with an identity needs neither.
  const isKnownById = before !== null && before.email === null && before.external_id === null
  if (before !== null && user_id !== undefined && user_id !== before.id)
    refuse('mistake', 'id', `must be the id of ${nameOf(before)}, ${before.id}, or be left out`)
  else if (earlier !== undefined) refuse('mistake', '', `means the same user as ${earlier}`)
  else if (isNamed === null && !isKnownById)
    refuse('mistake', '', 'needs an "email" or an "external_id"')
  else if (email && email !== before?.email && after.external_id !== null && isOperator?.(email))
    refuse('address of an operator', 'email')
  else return false
  return true
}

/** Null if a site's user can't have the address. */
function emailOfSite(
  { email }: Row,
  { id, disabled_at }: SiteUser,
  { isOperator, denied }: Planning,
  refuse: Refuse,
): string | null | undefined {
  const usable = typeof email === 'string' ? siteEmail(email) : null
  if (typeof email === 'string' && usable === null) refuse('address not ASCII')
  const isOperators = usable !== null && isOperator?.(usable)
  if (isOperators) {
    refuse('address of an operator')
    denied.push([id, 'mail address'])
  }
  // An operator's word stands: so the empty row of a removed user stays empty, too.
  if (email === undefined || disabled_at !== null) return undefined
  return isOperators ? null : usable
}

/**
 * A user whom an operator has disabled stays without anything, because the site must not lift that
 * by adding the user again.
 */
export function removeUsers({ users, removed, emptied, hand, now, each }: Planning): void {
  each('remove_users', (_, user, refuse, done) => {
    if (user === null) return
    if (hand === 'site' && user.disabled_at !== null) {
      refuse('disabled by an operator')
      users.put({ ...user, email: null, banned_at: user.banned_at ?? now })
      emptied.push(user)
    } else if (!removed.has(user.id)) {
      removed.set(user.id, user)
      done('removed')
    }
  })
}
