import { type ApiKey, checkKeyName } from '../api-key.ts'
import { act } from '../../accounts/records/audit.ts'
import type { Database } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'
import type { Actor } from '../../model/audit.ts'
import { quote } from '../../model/text.ts'

/** The renamed record; or the reason why the key keeps its name, and the error message. */
export type Renamed =
  | { apiKey: ApiKey }
  | { refused: string; because: 'name' | 'revoked' | 'other name' }

/**
 * Renames the user's active key. A second call with the same name changes nothing. With `was`, the
 * name that the caller has seen, a key of another name keeps it. Null if the user has no such key.
 */
export async function renameApiKey(
  database: Database,
  userId: string,
  id: string,
  { name, was }: { name: string; was?: string },
  actor: Actor,
): Promise<Renamed | null> {
  const checked = checkKeyName(name)
  if ('complaint' in checked) return { refused: checked.complaint, because: 'name' }
  const { selectApiKeys } = database.dialect
  return act(database, actor, async (transaction, note) => {
    const own = sql`user_id = ${uuid(userId)} AND id = ${uuid(id)}`
    const seen = was === undefined ? sql`` : sql`AND name = ${was}`
    const changed = await transaction.run(sql`
      UPDATE api_keys SET name = ${checked.name}
      WHERE ${own} AND revoked_at IS NULL AND name <> ${checked.name} ${seen}`)
    if (changed > 0) note('key renamed', userId, id)
    const apiKey = await transaction.get<ApiKey>(selectApiKeys(own))
    if (apiKey === null) return null
    if (apiKey.revoked_at !== null) return { refused: 'the key is revoked', because: 'revoked' }
    if (apiKey.name === checked.name) return { apiKey }
    return { refused: `the key is now named ${quote(apiKey.name)}`, because: 'other name' }
  })
}
