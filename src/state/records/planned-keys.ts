import type { ApiKey } from '../../keys/api-key.ts'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../model/key-format.ts'
import { complaintIn, type DeclaredKey, type StateComplaint } from '../declared-state.ts'
import type { StoredKey } from '../state-store.ts'
import { quote } from '../../model/text.ts'
import { addChange, differences, type Planning } from './changes.ts'

/** How the keys of a user become those that the file declares. A revoked key stays revoked. */
export function planKeys(planning: Planning, declared: readonly DeclaredKey[] | undefined): void {
  const { plan, userId, stored, options } = planning
  const byHash = new Map(declared?.map((key) => [key.hash, key]))
  const active = stored.keysOf(userId).filter(({ revoked_at }) => revoked_at === null)
  // An absent list prunes nothing.
  const toRevoke = active.filter(({ hash }) => {
    const key = byHash.get(hash)
    return key === undefined ? options.prune && declared !== undefined : key.revoked_at
  })
  let count = active.length - toRevoke.length
  for (const key of declared ?? []) {
    const known = stored.keysByHash.get(key.hash) ?? null
    const complaint = complaintAbout(key, known, planning)
    if (complaint !== null) plan.complaints.push(complaint)
    else {
      const after = known === null ? newKey(key, planning) : renamed(key, known)
      const text = tellChange(known, after)
      if (text !== null) addChange(plan, 'key', known, after, text)
      if (after.revoked_at !== null && !key.revoked_at) plan.keptRevoked.push(tell(known ?? after))
      if (known === null && after.revoked_at === null) count += 1
    }
    if (known === null && count > ACTIVE_KEYS_MAX)
      plan.complaints.push({
        place: key.place,
        message: `would be active key ${count} of this user, and the maximum is ${ACTIVE_KEYS_MAX}; revoke one first`,
      })
  }
  for (const key of toRevoke) addChange(plan, 'key', key, null, tell(key))
}

function complaintAbout(
  key: DeclaredKey,
  known: StoredKey | null,
  { userId, stored }: Planning,
): StateComplaint | null {
  if (known !== null && known.user_id !== userId)
    return complaintIn(key, 'key_hash', 'is the hash of a key of another user')
  if (key.id === undefined || key.id === known?.id) return null
  if (known !== null)
    return complaintIn(key, 'id', `must be the id of this key, ${known.id}, or be left out`)
  return stored.keysById.has(key.id) ? complaintIn(key, 'id', 'is the id of another key') : null
}

function newKey(key: DeclaredKey, { userId, stored, options: { now } }: Planning): StoredKey {
  const { name, hash, prefix = FIXED_PREFIX, created_at = now, last_used_at = null } = key
  const revoked_at = key.revoked_at ?? stored.revocations.get(hash) ?? null
  const id = key.id ?? crypto.randomUUID()
  return { id, user_id: userId, name, prefix, hash, created_at, revoked_at, last_used_at }
}

const renamed = ({ name, prefix }: DeclaredKey, known: StoredKey): StoredKey => ({
  ...known,
  name,
  prefix: prefix ?? known.prefix,
})

/** Null if the key stays as it is. */
function tellChange(before: StoredKey | null, after: StoredKey): string | null {
  if (before === null) return `${tell(after)}${after.revoked_at === null ? '' : ', revoked'}`
  const told = differences(before, after, ['name'])
  if (after.prefix !== before.prefix) told.push(`prefix ${before.prefix}… → ${after.prefix}…`)
  return told.length === 0 ? null : `${tell(before)}: ${told.join(', ')}`
}

function tell({ name, prefix }: Pick<ApiKey, 'name' | 'prefix'>): string {
  return `${quote(name)} (${prefix}…)`
}
