import { nameOf } from '../../accounts/user.ts'
import { createOrderedIds } from '../../database/ordered-ids.ts'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../model/key-format.ts'
import { quote } from '../../model/text.ts'
import type { RowOf } from '../document.ts'
import type { Planning } from './planning.ts'
import type { StoredKey } from './stored.ts'

type Row = RowOf<'put_keys'>

/** Revokes before it adds, so that a key that ends makes room for a new one. */
export function putKeys(planning: Planning): void {
  const { document, keys, find, hand, count, refuse } = planning
  const active = new Map<string, number>()
  const activate = (userId: string, by: number) => {
    const number = (active.get(userId) ?? 0) + by
    active.set(userId, number)
    return number
  }
  for (const { user_id, revoked_at } of keys.rows()) if (revoked_at === null) activate(user_id, 1)
  const byId = new Map(keys.rows().map((key) => [key.id, key]))
  const makeId = createOrderedIds()
  const rows = document.put_keys ?? []
  const isEnd = ({ key_hash, revoked_at }: Row) => revoked_at && keys.stored(key_hash) !== null
  for (const row of [...rows.filter(isEnd), ...rows.filter((one) => !isEnd(one))]) {
    const user = find(row)
    const known = keys.get(row.key_hash)
    const other = byId.get(row.id ?? '')
    const complain = (field: string, told: string) =>
      refuse('put_keys', row, 'of another account', field, told)
    if (user === null) {
      const told = 'means no user here; add the user first'
      refuse('put_keys', row, 'no such user', undefined, told)
    } else if (known !== null && known.user_id !== user.id)
      complain('key_hash', 'is the hash of a key of another user')
    else if (known !== null && row.id !== undefined && row.id !== known.id)
      complain('id', `must be the id of this key, ${known.id}, or be left out`)
    else if (known === null && other !== undefined) complain('id', 'is the id of another key')
    else {
      const after = known === null ? newKey(row, user.id, makeId, planning) : changedKey(row, known)
      if (known === null && after.revoked_at === null) {
        const number = activate(user.id, 1)
        if (number > ACTIVE_KEYS_MAX) {
          if (hand === 'site') activate(user.id, -1)
          refuse(
            'put_keys',
            row,
            'sixth key',
            undefined,
            `would be active key ${number} of ${quote(nameOf(user))}, and the maximum is ${ACTIVE_KEYS_MAX}; revoke one first`,
          )
          continue
        }
      }
      if (known?.revoked_at === null && after.revoked_at !== null) activate(user.id, -1)
      if (after.revoked_at !== null && !row.revoked_at) {
        planning.keptRevoked.push(after)
        if (hand === 'site') refuse('put_keys', row, 'stays revoked')
      }
      count('put_keys', keys.put(after))
    }
  }
}

function newKey(
  row: Row,
  user_id: string,
  makeId: () => string,
  { now, revocations }: Planning,
): StoredKey {
  const { id = makeId(), name, key_hash: hash, prefix = FIXED_PREFIX, created_at = now } = row
  const revoked_at = row.revoked_at ?? revocations.get(hash) ?? null
  const { last_used_at = null } = row
  return { id, user_id, name, prefix, hash, created_at, revoked_at, last_used_at }
}

/** The first revocation's instant stays. */
const changedKey = ({ name, prefix, revoked_at }: Row, known: StoredKey): StoredKey => ({
  ...known,
  name,
  prefix: prefix ?? known.prefix,
  revoked_at: known.revoked_at ?? revoked_at ?? null,
})

export function revokeKeys({ document, keys, find, now, count, refuse }: Planning): void {
  const byId = new Map(keys.rows().map((key) => [key.id, key]))
  for (const row of document.revoke_keys ?? []) {
    const { id = '', key_hash = byId.get(id)?.hash ?? '' } = row
    const key = keys.get(key_hash)
    const user = find(row)
    if (key === null) continue
    if (key.user_id !== user?.id) refuse('revoke_keys', row, 'of another account')
    else if (key.revoked_at === null) {
      keys.put({ ...key, revoked_at: now })
      count('revoke_keys', 'revoked')
    }
  }
}
