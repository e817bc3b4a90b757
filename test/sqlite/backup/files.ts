import { hash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { backUpSqlite } from '../../../src/sqlite/backup/backup.ts'
import { prepareRestore } from '../../../src/sqlite/backup/restore.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import type { Manifest, Restored } from '../../../src/transfer/backup/backup.ts'
import type { ServingStore } from '../../../src/listing/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'

/** A database file that the test serves, backs up and restores. */
export function files(t: TestContext) {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const target = join(folder, 'backup')
  const faults: unknown[] = []
  return {
    folder,
    path,
    target,
    faults,

    async serve<T>(body: (store: ServingStore) => Promise<T>): Promise<T> {
      const store = await openServingSqliteStore(path, undefined, (fault) => faults.push(fault))
      try {
        return await body(store)
      } finally {
        await store.close()
      }
    },

    backUp: (): Promise<Manifest> => backUpSqlite(path, target, '1.2.3'),

    async restore(journals: readonly string[] = []): Promise<Restored> {
      const prepared = await prepareRestore(path, target, journals)
      try {
        return await prepared.apply()
      } finally {
        await prepared.close()
      }
    },

    /** The files of the folder with the SHA-256 of each. The lock's holder may change. */
    content: () =>
      readdirSync(folder)
        .filter((name) => !name.includes('-serving'))
        .map((name) => `${name} ${hash('sha256', readFileSync(join(folder, name)))}`)
        .toSorted(),
  }
}

/** All rows of all tables of a database file. */
export function rowsOf(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
      .all()
    return Object.fromEntries(
      tables.map(({ name }) => [
        name,
        database.prepare(`SELECT * FROM ${String(name)} ORDER BY 1`).all(),
      ]),
    )
  } finally {
    database.close()
  }
}
