import { users } from '../accounts/records/users.ts'
import type { ApiKey } from '../keys/api-key.ts'
import { apiKeys } from '../keys/records/api-keys.ts'
import { formatInstant, formatNullable } from '../model/instant.ts'
import { json, refuse } from './answers.ts'
import type { Route } from './call.ts'

export const NO_SUCH_USER = refuse(404, 'No user has this external id.')

/** What a site can read of its user. */
export const userRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/v1\/users\/([^/]+)$/,
    async answer({ database }, { parameters: [externalId = ''] }) {
      const user = await users(database).findExternalUser(externalId)
      if (user === null) return NO_SUCH_USER
      const { id, email, external_id, created_at, disabled_at } = user
      const keys = await apiKeys(database).listApiKeys(id)
      return json({
        external_id,
        id,
        email,
        created_at: formatInstant(created_at),
        disabled_at: formatNullable(disabled_at),
        keys: keys.map(keyOf),
      })
    },
  },
]

/** A key without its user, whom the path names. */
export function keyOf({ id, name, prefix, created_at, revoked_at, last_used_at }: ApiKey): object {
  return {
    id,
    name,
    prefix,
    created_at: formatInstant(created_at),
    revoked_at: formatNullable(revoked_at),
    last_used_at: formatNullable(last_used_at),
  }
}
