import type { ApiKey } from '../api-key.ts'
import type { User } from '../../accounts/user.ts'
import type { Database } from '../../database/database.ts'
import { inUuids, sql } from '../../database/sql.ts'
import { USER_NAME, userColumns } from '../../accounts/records/user-columns.ts'

/** With the names of the owner, and since when the owner has no access. */
export type OwnedApiKey = ApiKey & Pick<User, 'email' | 'external_id' | 'disabled_at' | 'banned_at'>

/** Adds what is known of the owners, and sorts by their names, which keeps each owner's order. */
export async function withOwners(
  database: Database,
  apiKeys: readonly ApiKey[],
): Promise<OwnedApiKey[]> {
  const ids = [...new Set(apiKeys.map(({ user_id }) => user_id))]
  const { dialect } = database
  const owners = await database.all<User>(sql`
    SELECT ${userColumns(dialect)} FROM users WHERE id ${inUuids(ids)}
    ORDER BY ${USER_NAME} ${dialect.byBytes}`)
  const byOwner = Map.groupBy(apiKeys, ({ user_id }) => user_id)
  return owners.flatMap(({ id, email, external_id, disabled_at, banned_at }) =>
    (byOwner.get(id) ?? []).map((apiKey) => ({
      ...apiKey,
      email,
      external_id,
      disabled_at,
      banned_at,
    })),
  )
}
