import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createRecentUses, type RecentUses, type Stamp } from '../../src/sqlite/recent-uses.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

/** The recent uses of a new database, on the connection that they are recorded by. */
export async function openRecent(t: { after(end: () => void): void }): Promise<{
  path: string
  database: DatabaseSync
  recent: RecentUses
  stamp(): Stamp
  advance(milliseconds: number): void
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA synchronous = OFF')
  t.after(() => database.close())
  let now = 86_400_000_000
  const recent = createRecentUses(database, 1, now)
  return {
    path,
    database,
    recent,
    stamp: () => ({ used_at: now, monotonic: now }),
    advance: (milliseconds) => {
      now += milliseconds * 1000
    },
  }
}
