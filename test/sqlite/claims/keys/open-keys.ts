import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { copyPages } from '../../../../src/archive/sqlite-backup.ts'
import { migrateSqlite } from '../../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'

export const hashOf = (name: number | string) => createHash('sha256').update(`${name}`).digest()

/** A file with keys numbered from 1, whose hashes follow from their numbers. */
export async function openKeys(t: TestContext, count: number) {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF')
  const insert = database.prepare(
    `INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
     VALUES (?, ?, ?, 'a', '', ?, 1)`,
  )
  const add = (serial: number, userId: string = randomUUID()) =>
    void insert.run(serial, randomUUID(), userId, hashOf(serial))
  /** Adds the keys with these numbers in one transaction. */
  const addRange = (first: number, last: number) => {
    database.exec('BEGIN')
    for (let serial = first; serial <= last; serial += 1) add(serial)
    database.exec('COMMIT')
  }
  addRange(1, count)
  return { path, database, add, addRange }
}

/**
 * Copies a whole database into a file that other connections have open, and waits while one of them
 * compacts claims.
 */
export async function copyFile(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from)
  await copyPages(source, to)
  source.close()
}
