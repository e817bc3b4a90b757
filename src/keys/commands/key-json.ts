import type { ApiKey } from '../api-key.ts'
import { formatInstant, formatNullable } from '../../model/instant.ts'

/** A key, as `--json` prints it: fields have the names of their columns. */
export function keyJson(apiKey: ApiKey): object {
  const { id, user_id, name, prefix, created_at, revoked_at, last_used_at } = apiKey
  return {
    id,
    user_id,
    name,
    prefix,
    created_at: formatInstant(created_at),
    revoked_at: formatNullable(revoked_at),
    last_used_at: formatNullable(last_used_at),
  }
}
