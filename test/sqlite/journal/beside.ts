import assert from 'node:assert/strict'
import { existsSync, mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { Store } from '../../../src/database/store.ts'
import { retryWhileLocked } from '../../../src/sqlite/database.ts'
import { readJournal } from '../../../src/sqlite/journal/journal.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'

/** A database file with one key of Ada and one of Bob, and what other programs do to it. */
export async function twoKeys(t: Pick<TestContext, 'after'>) {
  const path = join(temporaryFolder(t), 'listing.db')
  const older = `${path}.older`
  const journal = `${path}-revoked`
  const store = await openSqliteStore(path, { create: true })
  const ada = await addOwner(store, 'ada@example.com')
  const bob = await addOwner(store, 'bob@example.com')
  await store.close()
  await copyInto(path, older)
  return {
    path,
    journal,
    ada,
    bob,

    /** Runs a command's body. */
    async command<T>(body: (store: Store) => Promise<T>): Promise<T> {
      const opened = await openSqliteStore(path, { create: false })
      try {
        return await body(opened)
      } finally {
        await opened.close()
      }
    },

    /** Writes the older file over the present one, as `.restore` of SQLite's program does. */
    restoreOlder: () => copyInto(older, path),

    /** Revokes with SQL, as another program does. */
    revokeBySql: (key: string) =>
      exec(path, `UPDATE api_keys SET revoked_at = 5 WHERE key_hash = x'${hexOf(key)}'`),

    /** What the journal has. */
    lines: () => [...readJournal(journal, assert.ifError).keys()],

    /** Runs the body while no line can be written. */
    async withoutJournal<T>(body: () => Promise<T>): Promise<T> {
      const isThere = existsSync(journal)
      if (isThere) renameSync(journal, `${journal}.aside`)
      mkdirSync(journal)
      try {
        return await body()
      } finally {
        rmdirSync(journal)
        if (isThere) renameSync(`${journal}.aside`, journal)
      }
    },
  }
}

export const hexOf = (key: string) => Buffer.from(hashApiKey(key)).toString('hex')

export function exec(path: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  database.exec(sql)
  database.close()
}

async function copyInto(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from)
  await retryWhileLocked(() => backup(source, to), 10_000, isLocked)
  source.close()
}

/** Node.js reports a target that a claim has locked as an error without a code. */
function isLocked(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 0
}
