import { randomUUID } from 'node:crypto'
import {
  ACTIVE_KEYS_MAX,
  type ApiKey,
  checkKeyName,
  generateKey,
  hashApiKey,
  prefixOf,
} from './api-key.ts'
import type { Instant } from './instant.ts'
import type { Store } from './store.ts'

/** An issued key, which exists only here and is shown once; or the sentence that says why none was issued. */
export type Issued = { key: string; apiKey: ApiKey } | { refused: string }

/** Issues a key to a user (spec 5.3). The caller has made sure that this is who they act for. */
export async function issueApiKey(
  store: Store,
  userId: string,
  name: string,
  now: Instant,
): Promise<Issued> {
  const checked = checkKeyName(name)
  if ('complaint' in checked) return { refused: checked.complaint }

  const key = generateKey()
  const apiKey: ApiKey = {
    id: randomUUID(),
    user_id: userId,
    name: checked.name,
    prefix: prefixOf(key),
    created_at: now,
    revoked_at: null,
    last_used_at: null,
  }
  const inserted = await store.insertApiKey(apiKey, hashApiKey(key), ACTIVE_KEYS_MAX)
  if (inserted) return { key, apiKey }
  return {
    refused: `the user has ${ACTIVE_KEYS_MAX} active keys, which is the most; revoke one before issuing another`,
  }
}
