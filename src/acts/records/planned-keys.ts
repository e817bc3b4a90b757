import { nameOf } from '../../accounts/user.ts'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../model/key-format.ts'
import { quote } from '../../model/text.ts'
import type { RowOf } from '../document.ts'
import type { Planning } from './planning.ts'
import type { StoredKey } from './stored.ts'

type Row = RowOf<'put_keys'>

/** Revokes before it adds, so that a key that ends makes room for a new one. */
export function putKeys(planning: Planning): void {
  const { document, keys, hand, keptRevoked, each, denied, operators, isOperator } = planning
  const active = new Map<string, number>()
  const activate = (userId: string, by: number) => {
    const number = (active.get(userId) ?? 0) + by
    active.set(userId, number)
    return number
  }
  for (const { user_id, revoked_at } of keys.rows()) if (revoked_at === null) activate(user_id, 1)
  const byId = new Map(keys.rows().map((key) => [key.id, key]))
  const { ends = [], others = [] } = Object.groupBy(document.put_keys ?? [], (row) =>
    row.revoked_at && keys.stored(row.key_hash) !== null ? 'ends' : 'others',
  )
  each(
    'put_keys',
    (row, user, refuse, done) => {
      const known = keys.get(row.key_hash)
      if (user === null) return refuse('no such user')
      if (known !== null && known.user_id !== user.id)
        return refuse('of another account', 'key_hash', 'is the hash of a key of another user')
      if (known !== null && row.id !== undefined && row.id !== known.id)
        return refuse('mistake', 'id', `must be the id of this key, ${known.id}, or be left out`)
      if (known === null && byId.has(row.id ?? ''))
        return refuse('mistake', 'id', 'is the id of another key')
      const isOperators = hand === 'site' && user.email !== null && isOperator?.(user.email)
      if (known === null && (isOperators || operators?.has(user.id))) {
        denied.push([user.id, 'key'])
        return refuse('account of an operator')
      }
      const after = become(row, known, user.id, planning)
      const was = known?.revoked_at === null ? 1 : 0
      const number = activate(user.id, (after.revoked_at === null ? 1 : 0) - was)
      if (known === null && after.revoked_at === null && number > ACTIVE_KEYS_MAX) {
        if (hand === 'site') activate(user.id, -1)
        const told =
          `would be active key ${number} of ${quote(nameOf(user))}, and the maximum is ` +
          `${ACTIVE_KEYS_MAX}; revoke one first`
        return refuse('sixth key', '', told)
      }
      if (after.revoked_at !== null && !row.revoked_at) {
        keptRevoked.push(after)
        if (hand === 'site') refuse('stays revoked')
      }
      return done(keys.put(after))
    },
    [...ends, ...others],
  )
}

/** The first revocation's instant stays. */
function become(
  { name, key_hash: hash, id, prefix, created_at, revoked_at, last_used_at = null }: Row,
  known: StoredKey | null,
  user_id: string,
  { now, makeId, revocations }: Planning,
): StoredKey {
  if (known !== null)
    return {
      ...known,
      name,
      prefix: prefix ?? known.prefix,
      revoked_at: known.revoked_at ?? revoked_at ?? null,
    }
  return {
    id: id ?? makeId(),
    user_id,
    name,
    prefix: prefix ?? FIXED_PREFIX,
    hash,
    created_at: created_at ?? now,
    revoked_at: revoked_at ?? revocations.get(hash) ?? null,
    last_used_at,
  }
}

export function revokeKeys({ keys, now, each }: Planning): void {
  const byId = new Map(keys.rows().map((key) => [key.id, key]))
  each('revoke_keys', ({ id = '', key_hash }, user, refuse, done) => {
    const key = keys.get(key_hash ?? byId.get(id)?.hash ?? '')
    if (key === null) return
    if (key.user_id !== user?.id) refuse('of another account')
    else if (key.revoked_at === null) {
      keys.put({ ...key, revoked_at: now })
      done('revoked')
    }
  })
}
