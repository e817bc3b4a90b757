import type { NamedUser, User } from '../listing/accounts/user.ts'
import type { ApiKey } from '../listing/api-key.ts'
import type { ServerRecord } from '../listing/servers/server-import.ts'
import { formatInstant, type Instant } from '../listing/instant.ts'

/*
 * Records as `--json` prints them. Fields have the names of their columns.
 */

/** A key in JSON. */
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

export function userJson({ id, email, external_id, created_at, disabled_at }: User): object {
  return {
    id,
    email,
    external_id,
    created_at: formatInstant(created_at),
    disabled_at: formatNullable(disabled_at),
  }
}

/** A server, as `server list` and `server remove` print it. */
export function serverJson(server: ServerRecord, owner: NamedUser): object {
  const updated_at = formatInstant(server.updated_at)
  const { id: created_by, email, external_id } = owner
  return { ...server, updated_at, created_by, email, external_id }
}

export function formatNullable(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}
