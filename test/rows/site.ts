import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { runCommand, wordsOf } from '../cli/command.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { type Act, type Command, titleOf } from './act.ts'
import { createChanges } from './changes.ts'
import { createKept, type Kept } from './kept.ts'
import { createNames } from './names.ts'
import { createPages } from './pages.ts'
import { openReader } from './tables.ts'

/** An act in the words of the record, and the lines about what it did. */
export interface Recorded {
  title: string
  lines: string[]
}

/** Lives through the acts on a database without rows. `schema` is ours on PostgreSQL. */
export async function liveThrough(
  t: TestContext,
  database: DatabaseConfig,
  acts: readonly Act[],
  schema?: string,
): Promise<Recorded[]> {
  const reader = await openReader(database, schema)
  const folder = temporaryFolder(t)
  const names = createNames(folder)
  const kept = createKept(names, folder)
  const pages = createPages(t, database, names, kept)
  const changes = createChanges(names)

  async function perform(act: Act): Promise<string> {
    if ('post' in act) return pages.send(act)
    if ('service' in act) return act.service === 'starts' ? pages.start() : pages.end()
    if ('claim' in act) return pages.claim(act.claim)
    if ('command' in act)
      return runIn(act.isAside ? `sqlite:${folder}/aside.db` : urlOf(database), act, kept)
    await reader.execute(kept.put(act.sql))
    return 'done'
  }

  const recorded: Recorded[] = []
  try {
    let before = await reader.read()
    for (const act of acts) {
      const start = presentInstant()
      const title = `${titleOf(act)} → ${await perform(act)}`
      const after = await reader.read()
      const lines = changes.between(before, after, { start, end: presentInstant() })
      recorded.push({ title, lines })
      kept.nameKeys()
      before = after
    }
  } finally {
    // At the end of the service, no log stays beside the file that a release keeps.
    await reader.close()
  }
  return recorded
}

async function runIn(url: string, act: Command, { put, keep }: Kept): Promise<string> {
  const env = { DATABASE_URL: url, DASHBOARD_URL: 'http://127.0.0.1:8081' }
  const words = wordsOf(act.command).map(put)
  const { code, stdout, stderr } = await runCommand(words, { env, stdin: put(act.stdin) })
  keep(stdout)
  if (act.mayFail) return 'done'
  assert.equal(code, 0, `${act.command}: ${stderr}`)
  return 'exit 0'
}

function urlOf(database: DatabaseConfig): string {
  if (database.engine === 'postgres') return database.url
  assert.ok(database.engine === 'sqlite')
  return `sqlite:${database.path}`
}
