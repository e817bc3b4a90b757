import type { ApiKey } from '../../listing/api-key.ts'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../listing/key-format.ts'
import type { DeclaredKey, StateComplaint } from '../../listing/state/declared-state.ts'
import type { StateChange, StoredKey } from '../../listing/state/state-store.ts'
import { quote } from '../../listing/text.ts'
import type { Stored } from './stored-state.ts'

export interface PlannedKeys {
  added: StoredKey[]
  changed: { id: string; name: string; prefix: string; isRenamed: boolean }[]
  /** Ids of keys to revoke. */
  revoked: string[]
  changes: Omit<StateChange, 'of'>[]
  /** Active keys of the file that stay revoked. */
  kept: string[]
  complaints: StateComplaint[]
}

/** How the keys of a user become those that the file declares. A revoked key stays revoked. */
export function planKeys(
  declared: readonly DeclaredKey[] | undefined,
  userId: string,
  stored: Stored,
  { prune, now }: { prune: boolean; now: number },
): PlannedKeys {
  const planned: PlannedKeys = {
    added: [],
    changed: [],
    revoked: [],
    changes: [],
    kept: [],
    complaints: [],
  }
  const byHash = new Map(declared?.map((key) => [key.hash, key]))
  const active = stored.keysOf(userId).filter(({ revoked_at }) => revoked_at === null)
  // An absent list prunes nothing.
  const toRevoke = active.filter(({ hash }) => {
    const key = byHash.get(hash)
    return key === undefined ? prune && declared !== undefined : key.revoked_at
  })
  let count = active.length - toRevoke.length
  for (const key of declared ?? []) {
    const known = stored.keysByHash.get(key.hash)
    const complaint = complaintAbout(key, known, userId, stored)
    if (complaint !== null) planned.complaints.push(complaint)
    else if (known !== undefined) changeKey(planned, key, known)
    else count += addKey(planned, key, userId, stored, now)
    if (known === undefined && count > ACTIVE_KEYS_MAX)
      planned.complaints.push({
        place: key.place,
        message: `would be active key ${count} of this user, and the maximum is ${ACTIVE_KEYS_MAX}; revoke one first`,
      })
  }
  for (const key of toRevoke) {
    planned.revoked.push(key.id)
    planned.changes.push({ action: 'remove', kind: 'key', text: tell(key) })
  }
  return planned
}

function complaintAbout(
  key: DeclaredKey,
  known: StoredKey | undefined,
  userId: string,
  stored: Stored,
): StateComplaint | null {
  const complain = (field: string, message: string) => ({ place: `${key.place}.${field}`, message })
  if (known !== undefined && known.user_id !== userId)
    return complain('key_hash', 'is the hash of a key of another user')
  if (key.id === undefined || key.id === known?.id) return null
  if (known !== undefined)
    return complain('id', `must be the id of this key, ${known.id}, or be left out`)
  return stored.keysById.has(key.id) ? complain('id', 'is the id of another key') : null
}

function changeKey(planned: PlannedKeys, key: DeclaredKey, known: StoredKey): void {
  const { name, prefix = known.prefix } = key
  const told = [
    ...(name === known.name ? [] : [`name ${quote(known.name)} → ${quote(name)}`]),
    ...(prefix === known.prefix ? [] : [`prefix ${known.prefix}… → ${prefix}…`]),
  ]
  if (told.length > 0) {
    planned.changed.push({ id: known.id, name, prefix, isRenamed: name !== known.name })
    planned.changes.push({
      action: 'change',
      kind: 'key',
      text: `${tell(known)}: ${told.join(', ')}`,
    })
  }
  if (known.revoked_at !== null && !key.revoked_at) planned.kept.push(tell(known))
}

/** Returns how many active keys the user has more. */
function addKey(
  { added, changes, kept }: PlannedKeys,
  key: DeclaredKey,
  user_id: string,
  { revocations }: Stored,
  now: number,
): number {
  const { name, hash, prefix = FIXED_PREFIX, created_at = now, last_used_at = null } = key
  const listedAt = revocations.get(hash) ?? null
  const revoked_at = key.revoked_at ?? listedAt
  const id = key.id ?? crypto.randomUUID()
  added.push({ id, user_id, name, prefix, hash, created_at, revoked_at, last_used_at })
  const state = revoked_at === null ? '' : ', revoked'
  changes.push({ action: 'add', kind: 'key', text: `${tell({ name, prefix })}${state}` })
  if (listedAt !== null && !key.revoked_at) kept.push(tell({ name, prefix }))
  return revoked_at === null ? 1 : 0
}

function tell({ name, prefix }: Pick<ApiKey, 'name' | 'prefix'>): string {
  return `${quote(name)} (${prefix}…)`
}
