import { setImmediate as otherWork } from 'node:timers/promises'
import { DAY_US, type Instant } from '../../model/instant.ts'
import type { ApiKey } from '../../keys/api-key.ts'
import { type OwnedApiKey, withOwners } from '../../keys/records/owned-api-keys.ts'
import type { Database } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'

/** A key counts as unused after this long without a use, or since its issue if it has none. */
export const UNUSED_US = 90 * DAY_US
/** The keys that a count examines at most, and those that one query does. */
const KEYS_EXAMINED = { max: 100_000, together: 5_000 }

export interface UnusedApiKeys {
  count: number
  /** True if there are more keys than a count examines. */
  isMore: boolean
  /** Those without a use for longest. */
  longest: OwnedApiKey[]
}

export function unusedApiKeys(database: Database, examined = KEYS_EXAMINED) {
  const { selectApiKeys } = database.dialect

  return {
    /** Counts working keys without a use since an instant, and lists some of them. */
    async countUnused(since: Instant, listedMax: number): Promise<UnusedApiKeys> {
      let longest: ApiKey[] = []
      let [count, after] = [0, NO_ID]
      for (let before = 0; before < examined.max; before += examined.together) {
        // Between two queries, other work gets its turn: SQLite runs one within the process.
        if (before > 0) await otherWork()
        const last = await database.get<{ id: string }>(sql`
          SELECT id FROM api_keys WHERE id > ${uuid(after)}
          ORDER BY id LIMIT 1 OFFSET ${examined.together - 1}`)
        const until = last === null ? sql`true` : sql`id <= ${uuid(last.id)}`
        const keys = selectApiKeys(
          sql`id > ${uuid(after)} AND ${until} AND revoked_at IS NULL AND disabled_at IS NULL`,
        )
        const rows = await database.all<ApiKey & { found: number }>(sql`
          SELECT keys.*, count(*) OVER () AS found FROM (${keys}) AS keys
          WHERE coalesce(last_used_at, created_at) < ${since}
          ORDER BY coalesce(last_used_at, created_at), id LIMIT ${listedMax}`)
        count += rows[0]?.found ?? 0
        longest = byIdleness([...longest, ...rows]).slice(0, listedMax)
        if (last === null) return { count, isMore: false, longest: await owned(longest) }
        after = last.id
      }
      const next = await database.get(sql`SELECT 1 FROM api_keys WHERE id > ${uuid(after)} LIMIT 1`)
      return { count, isMore: next !== null, longest: await owned(longest) }
    },
  }

  async function owned(keys: readonly ApiKey[]): Promise<OwnedApiKey[]> {
    return byIdleness(await withOwners(database, keys))
  }
}

/** Below every id of a key. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

export const idleSince = ({ last_used_at, created_at }: ApiKey): Instant =>
  last_used_at ?? created_at

function byIdleness<Key extends ApiKey>(keys: readonly Key[]): Key[] {
  return keys.toSorted((a, b) => idleSince(a) - idleSince(b))
}
