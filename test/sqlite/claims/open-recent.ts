import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  createRecentClaims,
  type RecentClaim,
  type RecentClaims,
} from '../../../src/sqlite/claims/recent-claims.ts'
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

/** The recent claims of a new database, with the connection that records them. */
export async function openRecent(t: { after(end: () => void): void }): Promise<{
  path: string
  database: DatabaseSync
  recent: RecentClaims
  stamp(): Stamp
  advance(milliseconds: number): void
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA synchronous = OFF')
  t.after(() => database.close())
  let now = 86_400_000_000
  const recent = createRecentClaims(database, BOOT, now)
  return {
    path,
    database,
    recent,
    stamp: () => ({ claimed_at: now, monotonic: now }),
    advance: (milliseconds) => {
      now += milliseconds * 1000
    },
  }
}
