import type { ApiKey } from '../../listing/api-key.ts'
import type { OwnedApiKey } from '../../listing/accounts/operator.ts'
import type { Database } from '../database.ts'
import { sql, uuids } from '../sql.ts'

/** Adds the owners' email addresses and sorts by them. Keys of one owner keep their order. */
export async function withOwners(
  database: Database,
  apiKeys: readonly ApiKey[],
): Promise<OwnedApiKey[]> {
  const ids = [...new Set(apiKeys.map(({ user_id }) => user_id))]
  const owners = await database.all<{ id: string; email: string }>(sql`
    SELECT id, email FROM users WHERE id IN (${uuids(ids)}) ORDER BY email ${database.dialect.byBytes}`)
  const byOwner = Map.groupBy(apiKeys, ({ user_id }) => user_id)
  return owners.flatMap(({ id, email }) =>
    (byOwner.get(id) ?? []).map((apiKey) => ({ ...apiKey, email })),
  )
}
