import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RecentClaim } from '../../../src/sqlite/claims/claim-rows.ts'
import { createRecentClaims, type RecentClaims } from '../../../src/sqlite/claims/recent-claims.ts'
import type { Stamp } from '../../../src/sqlite/claims/stamps.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'

/** The boot that these claims are recorded under, and the hash of every key. */
export const BOOT = 'test'
export const HASH = new Uint8Array(32)

/** Claims of the keys with these numbers. */
export function claimsOf(...serials: number[]): RecentClaim[] {
  return serials.map((serial) => ({ serial, keyHash: HASH }))
}

/** The numbers from the first to the last one. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** How a transaction ends: with COMMIT, with ROLLBACK, or with a COMMIT that reports a failure. */
type End = 'COMMIT' | 'ROLLBACK' | 'UNSURE'

/** The recent claims of a new database, with the connection that records them. */
export async function openRecent(t: { after(end: () => void): void }): Promise<{
  path: string
  database: DatabaseSync
  recent: RecentClaims
  stamp(): Stamp
  advance(milliseconds: number): void
  /** Records claims of these keys in a transaction of their own. */
  record(serials: number[], stamp?: Stamp, end?: End): void
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA synchronous = OFF')
  t.after(() => database.close())
  let now = 86_400_000_000
  const recent = createRecentClaims(database, BOOT, now)
  const schema = database.prepare('PRAGMA schema_version')
  const stamp = () => ({ claimed_at: now, monotonic: now })
  return {
    path,
    database,
    recent,
    stamp,
    advance: (milliseconds) => {
      now += milliseconds * 1000
    },
    record(serials, at = stamp(), end = 'COMMIT') {
      database.exec('BEGIN IMMEDIATE')
      const isFailed = new Error('the commit failed')
      try {
        recent.record(claimsOf(...serials), at, Number(schema.get()?.schema_version), () => {
          database.exec(end === 'ROLLBACK' ? 'ROLLBACK' : 'COMMIT')
          if (end !== 'COMMIT') throw isFailed
        })
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        if (error !== isFailed) throw error
      }
    },
  }
}
