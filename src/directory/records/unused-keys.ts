import { setImmediate as otherWork } from 'node:timers/promises'
import type { Instant } from '../../model/instant.ts'
import { lastUseOf } from '../../keys/api-key.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import { type OwnedApiKey, withOwners } from '../../keys/records/owned-api-keys.ts'
import type { Database } from '../../database/database.ts'
import { sql } from '../../database/sql.ts'

/** The keys that a count examines at most, and those that one query does. */
const KEYS_EXAMINED = { max: 100_000, together: 10_000 }

export interface UnusedApiKeys {
  count: number
  /** True if there are more keys than a count examines. */
  isMore: boolean
  /** Those without a use for longest. */
  longest: OwnedApiKey[]
}

export function unusedApiKeys(database: Database, examined = KEYS_EXAMINED) {
  const { firstKeyPlace, idleApiKeys, instant, keyPlace } = database.dialect

  return {
    /** Counts working keys without a use since an instant, and lists some of them. */
    async countUnused(since: Instant, listedMax: number): Promise<UnusedApiKeys> {
      let longest: Idle[] = []
      let [count, after]: [number, string | number] = [0, firstKeyPlace]
      for (let before = 0; before < examined.max; before += examined.together) {
        // Between two queries, other work gets its turn: SQLite runs one within the process.
        if (before > 0) await otherWork()
        const last = await findPlace(after, examined.together - 1)
        const until = last === null ? sql`true` : sql`place <= ${last}`
        const idle = sql`FROM (${idleApiKeys(since)}) AS idle WHERE place > ${after} AND ${until}`
        const counted = await database.get<{ count: number }>(sql`SELECT count(*) AS count ${idle}`)
        count += counted!.count
        const rows = await database.all<Idle>(sql`
          SELECT id, ${instant('idle_since')} ${idle} ORDER BY idle.idle_since LIMIT ${listedMax}`)
        longest = [...longest, ...rows]
          .toSorted((a, b) => a.idle_since - b.idle_since)
          .slice(0, listedMax)
        if (last === null) return { count, isMore: false, longest: await listOwned(longest) }
        after = last
      }
      const isMore = (await findPlace(after, 0)) !== null
      return { count, isMore, longest: await listOwned(longest) }
    },
  }

  /** The place of a key behind another one, or null if there are fewer keys. */
  async function findPlace(
    after: string | number,
    skipped: number,
  ): Promise<string | number | null> {
    const row = await database.get<{ place: string | number }>(sql`
      SELECT ${keyPlace} AS place FROM api_keys WHERE ${keyPlace} > ${after}
      ORDER BY ${keyPlace} LIMIT 1 OFFSET ${skipped}`)
    return row?.place ?? null
  }

  async function listOwned(idle: readonly Idle[]): Promise<OwnedApiKey[]> {
    const keys = await apiKeys(database).findApiKeys(idle.map(({ id }) => id))
    const owned = await withOwners(database, keys)
    return owned.toSorted((a, b) => lastUseOf(a) - lastUseOf(b))
  }
}

interface Idle {
  id: string
  idle_since: Instant
}
