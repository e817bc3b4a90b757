import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'

/** The claims in the database file alone, without its log. */
export function rowsInFile(t: TestContext, path: string): number {
  const copy = join(temporaryFolder(t), 'copy.db')
  copyFileSync(path, copy)
  const database = new DatabaseSync(copy)
  try {
    const { count } = database
      .prepare(
        'SELECT (SELECT count(*) FROM recent_claims) + (SELECT count(*) FROM last_claims) AS count',
      )
      .get()!
    return Number(count)
  } finally {
    database.close()
  }
}
