import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { createReadStream, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { ArchiveFacts, PreparedRestore, Restored } from '../../src/archive/archive.ts'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import type { ServingStore } from '../../src/database/store.ts'
import { prepareRestore } from '../../src/open-store.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

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

    backUp: (): Promise<ArchiveFacts> => backUpSqlite(path, target),

    prepare: (): Promise<PreparedRestore> => prepareFile(path, target),

    restore: (lists: readonly string[] = [], from = target): Promise<Restored> =>
      restoreFile(path, from, lists),

    /** The files of the folder with the SHA-256 of each. The lock's holder may change. */
    content: () =>
      readdirSync(folder)
        .filter((name) => !/-(serving|wal|shm)/.test(name))
        .map((name) => `${name} ${hash('sha256', readFileSync(join(folder, name)))}`)
        .toSorted(),
  }
}

function prepareFile(
  path: string,
  from: string,
  lists: readonly string[] = [],
): Promise<PreparedRestore> {
  const database = { engine: 'sqlite', path } as const
  return prepareRestore(database, from, lists, createReadStream, assert.ifError)
}

export async function restoreFile(...args: Parameters<typeof prepareFile>): Promise<Restored> {
  const prepared = await prepareFile(...args)
  try {
    return await prepared.apply(operatorAt(presentInstant()))
  } finally {
    await prepared.close()
  }
}

/** Makes a database file of users who have one key each. */
export async function filledFile(path: string, users: number): Promise<void> {
  await migrateSqlite(path)
  change(path, ...Array.from({ length: users }, (_, index) => userSql(index + 1)))
}

/** SQL for a user with a server and a key, all with this number. */
export function userSql(number: number): string {
  const id = idOf(number)
  return `
    INSERT INTO users (id, email, created_at) VALUES ('${id}', 'u${number}@example.com', 1);
    INSERT INTO servers (id, created_by, name, host_label, updated_at)
      VALUES ('${id}', '${id}', 'S', 'h', 1);
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
      VALUES ('${id}', '${id}', 'k', 'svc_live_0000000', unhex('${hashOf(number)}'), 1);`
}

export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** The hash of the key of a user, in hexadecimal. */
export function hashOf(number: number): string {
  return number.toString(16).padStart(64, '0')
}

/** Runs SQL as another program does, which may even write the schema. */
export function change(path: string, ...statements: string[]): void {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false, defensive: false })
  try {
    for (const each of statements) database.exec(each)
  } finally {
    database.close()
  }
}

/** The rows of a query, as lists of values. */
export function rows(path: string, query: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const statement = database.prepare(query)
    statement.setReturnArrays(true)
    return statement.all()
  } finally {
    database.close()
  }
}

/** All rows of all tables of a database file. */
export function rowsOf(path: string): Record<string, unknown[]> {
  const names = rows(path, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
  return Object.fromEntries(
    names.map((name) => [String(name), rows(path, `SELECT * FROM "${String(name)}" ORDER BY 1`)]),
  )
}

/** Makes a file of this age in seconds, which is more than an hour by default. */
export function leaveOld(path: string, age = 3_601): void {
  writeFileSync(path, 'x')
  utimesSync(path, 1, Date.now() / 1000 - age)
}
