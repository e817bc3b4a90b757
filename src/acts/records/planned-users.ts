import { createUser, nameOf } from '../../accounts/user.ts'
import type { RowOf } from '../document.ts'
import { siteEmail } from '../email.ts'
import type { SiteUser } from '../user.ts'
import type { Planning } from './planning.ts'

type Row = RowOf<'put_users'>

/** A row with its user, and the address that it wants. Undefined: the user keeps theirs. */
interface Wanted {
  row: Row
  before: SiteUser | null
  after: SiteUser
  email: string | null | undefined
}

/** Frees all addresses that change before it gives any, so that users can swap theirs. */
export function putUsers(planning: Planning): void {
  const { document, users, finder, find, hand, now, count, refuse } = planning
  const wanted = (document.put_users ?? []).flatMap((row) => wantedBy(row, planning) ?? [])
  for (const { before, email } of wanted)
    if (before?.email && email !== undefined && email !== before.email) finder.free(before.email)
  for (const { row, before, after, email } of wanted) {
    if (email !== undefined) {
      const isTaken =
        email !== null && email !== before?.email && finder.holderOf(email) !== undefined
      if (isTaken)
        refuse('put_users', row, 'address taken', 'email', 'is the address of another user')
      after.email = isTaken ? null : email
    }
    if (hand === 'site' && row.banned_at === null && after.disabled_at !== null)
      refuse('put_users', row, 'disabled by an operator')
    finder.add(after)
    count('put_users', users.put(after))
  }
  for (const row of document.banned ?? []) {
    const user = find(row)
    if (user?.banned_at === null && users.put({ ...user, banned_at: now }))
      count('put_users', 'banned')
  }
}

function wantedBy(row: Row, planning: Planning): Wanted | null {
  const { find, hand, now, places, refuse } = planning
  const before = find(row)
  const { user_id, external_id, email, created_at = now, banned_at, disabled_at } = row
  const after: SiteUser = before ?? {
    ...createUser(null, external_id ?? null),
    ...(user_id && { id: user_id }),
    created_at,
    banned_at: null,
  }
  const changed = {
    ...after,
    external_id: external_id === undefined ? after.external_id : external_id,
    banned_at: banned_at === undefined ? after.banned_at : banned_at,
    // The first instant of a disabled user stays.
    disabled_at:
      disabled_at === undefined
        ? after.disabled_at
        : disabled_at && (after.disabled_at ?? disabled_at),
  }
  if (hand === 'site') {
    const wanted = typeof email === 'string' ? usableEmail(row, email, planning) : email
    // An operator's word stands: so the empty row of a removed user stays empty, too.
    return { row, before, after: changed, email: after.disabled_at === null ? wanted : undefined }
  }
  if (before !== null && user_id !== undefined && user_id !== before.id) {
    const told = `must be the id of ${nameOf(before)}, ${before.id}, or be left out`
    refuse('put_users', row, 'of another account', 'id', told)
    return null
  }
  const earlier = places.get(changed.id)
  places.set(changed.id, row.place)
  if (earlier !== undefined) {
    refuse('put_users', row, 'of another account', undefined, `means the same user as ${earlier}`)
    return null
  }
  const isNamed = (email === undefined ? after.email : email) ?? changed.external_id
  // A user with an identity needs neither.
  const isKnownById = before !== null && before.email === null && before.external_id === null
  if (isNamed === null && !isKnownById) {
    refuse('put_users', row, 'empty', undefined, 'needs an "email" or an "external_id"')
    return null
  }
  return { row, before, after: changed, email }
}

/** Null if a site's user can't have the address. */
function usableEmail(row: Row, email: string, { refuse, isOperator }: Planning): string | null {
  const usable = siteEmail(email)
  if (usable === null) refuse('put_users', row, 'address not ASCII')
  else if (isOperator?.(usable)) refuse('put_users', row, 'address of an operator')
  else return usable
  return null
}

/**
 * A user whom an operator has disabled stays without anything, because the site must not lift that
 * by adding the user again.
 */
export function removeUsers(planning: Planning): void {
  const { document, users, removed, find, hand, now, count, refuse } = planning
  for (const row of document.remove_users ?? []) {
    const user = find(row)
    if (user === null) continue
    if (hand === 'site' && user.disabled_at !== null) {
      refuse('remove_users', row, 'disabled by an operator')
      users.put({ ...user, email: null, banned_at: user.banned_at ?? now })
      planning.emptied.push(user)
    } else if (!removed.has(user.id)) {
      removed.set(user.id, user)
      count('remove_users', 'removed')
    }
  }
}
