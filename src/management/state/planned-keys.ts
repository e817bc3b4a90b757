import type { ApiKey } from '../../listing/api-key.ts'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../listing/key-format.ts'
import { isRevoked } from '../../listing/state/revoked-keys.ts'
import type { DeclaredKey, StateComplaint } from '../../listing/state/declared-state.ts'
import type { StateChange, StoredKey } from '../../listing/state/state-store.ts'
import { quote } from '../../listing/text.ts'
import type { Lookup } from './lookup.ts'

export interface KeyPlan {
  added: { apiKey: ApiKey; hash: string }[]
  changed: { id: string; name: string; prefix: string; isRenamed: boolean }[]
  /** Ids of keys to revoke. */
  revoked: string[]
}

export interface PlannedKeys {
  plan: KeyPlan
  changes: Omit<StateChange, 'of'>[]
  /** Active keys of the file that the database has revoked. */
  kept: string[]
  complaints: StateComplaint[]
}

/** How the keys of a user become those that the file declares. A revoked key stays revoked. */
export function planKeys(
  declared: readonly DeclaredKey[] | undefined,
  userId: string,
  stored: Lookup,
  { prune, now }: { prune: boolean; now: number },
): PlannedKeys {
  const planned: PlannedKeys = {
    plan: { added: [], changed: [], revoked: [] },
    changes: [],
    kept: [],
    complaints: [],
  }
  const own = stored.keysOf(userId)
  const toRevoke = own.filter(
    (key) => key.revoked_at === null && isRevoked(key.hash, declared, prune),
  )
  let active = own.filter(({ revoked_at }) => revoked_at === null).length - toRevoke.length
  for (const key of declared ?? []) {
    const known = stored.keysByHash.get(key.hash)
    const complaint = complaintAbout(key, known, userId, stored)
    if (complaint !== null) planned.complaints.push(complaint)
    else if (known !== undefined) changeKey(planned, key, known)
    else {
      if (!key.revoked_at) active += 1
      if (!key.revoked_at && active > ACTIVE_KEYS_MAX)
        planned.complaints.push({
          place: key.place,
          message: `would be active key ${active} of this user, and the maximum is ${ACTIVE_KEYS_MAX}; revoke one first`,
        })
      addKey(planned, key, userId, now)
    }
  }
  for (const key of toRevoke) {
    planned.plan.revoked.push(key.id)
    planned.changes.push({ action: 'remove', kind: 'key', text: tell(key) })
  }
  return planned
}

function complaintAbout(
  key: DeclaredKey,
  known: StoredKey | undefined,
  userId: string,
  stored: Lookup,
): StateComplaint | null {
  const complain = (field: string, message: string) => ({ place: `${key.place}.${field}`, message })
  if (known !== undefined && known.user_id !== userId)
    return complain('key_hash', 'is the hash of a key of another user')
  if (key.id === undefined || key.id === known?.id) return null
  if (known !== undefined)
    return complain('id', `must be the id of this key, ${known.id}, or be left out`)
  return stored.keysById.has(key.id) ? complain('id', 'is the id of another key') : null
}

function changeKey({ plan, changes, kept }: PlannedKeys, key: DeclaredKey, known: StoredKey): void {
  const { name, prefix = known.prefix } = key
  const told = [
    ...(name === known.name ? [] : [`name ${quote(known.name)} → ${quote(name)}`]),
    ...(prefix === known.prefix ? [] : [`prefix ${known.prefix}… → ${prefix}…`]),
  ]
  if (told.length > 0) {
    plan.changed.push({ id: known.id, name, prefix, isRenamed: name !== known.name })
    changes.push({ action: 'change', kind: 'key', text: `${tell(known)}: ${told.join(', ')}` })
  }
  if (known.revoked_at !== null && !key.revoked_at) kept.push(tell(known))
}

function addKey({ plan, changes }: PlannedKeys, key: DeclaredKey, userId: string, now: number) {
  const apiKey: ApiKey = {
    id: key.id ?? crypto.randomUUID(),
    user_id: userId,
    name: key.name,
    prefix: key.prefix ?? FIXED_PREFIX,
    created_at: key.created_at ?? now,
    revoked_at: key.revoked_at ?? null,
    last_used_at: key.last_used_at ?? null,
  }
  plan.added.push({ apiKey, hash: key.hash })
  const state = apiKey.revoked_at === null ? '' : ', revoked'
  changes.push({ action: 'add', kind: 'key', text: `${tell(apiKey)}${state}` })
}

function tell({ name, prefix }: Pick<ApiKey, 'name' | 'prefix'>): string {
  return `${quote(name)} (${prefix}…)`
}
