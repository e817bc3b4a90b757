import { randomUUID } from 'node:crypto'
import { type ApiKey, checkKeyName, generateKey, prefixOf } from '../api-key.ts'
import { hashApiKey } from '../../model/key-hash.ts'
import { ACTIVE_KEYS_MAX } from '../../model/key-format.ts'
import type { Database } from '../../database/database.ts'
import { apiKeys } from './api-keys.ts'
import type { Actor } from '../../model/audit.ts'

/** A new key, which the caller shows once; or the reason and the error message. */
export type Issued =
  | { key: string; apiKey: ApiKey }
  | { refused: string; because: 'name' | 'at limit' | 'known' }

/**
 * Issues a key to a user (spec 5.3). The caller has authenticated the user. A second call with the
 * same `id` issues nothing, so a form sent twice issues one key.
 */
export async function issueApiKey(
  database: Database,
  userId: string,
  name: string,
  actor: Actor,
  id: string = randomUUID(),
): Promise<Issued> {
  const checked = checkKeyName(name)
  if ('complaint' in checked) return { refused: checked.complaint, because: 'name' }

  const key = generateKey()
  const apiKey: ApiKey = {
    id,
    user_id: userId,
    name: checked.name,
    prefix: prefixOf(key),
    created_at: actor.at,
    revoked_at: null,
    last_used_at: null,
  }
  const inserted = await apiKeys(database).insertApiKey(
    apiKey,
    hashApiKey(key),
    ACTIVE_KEYS_MAX,
    actor,
  )
  if (inserted === 'stored') return { key, apiKey }
  if (inserted === 'known')
    return { refused: 'a key was issued by this form already', because: inserted }
  return {
    because: inserted,
    refused: `the user has ${ACTIVE_KEYS_MAX} active keys, the maximum; revoke one first`,
  }
}
