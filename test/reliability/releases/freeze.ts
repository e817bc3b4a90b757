import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { versionOfTree } from '../../../scripts/release/changelog.ts'
import { ENDED, TABLES } from '../../../src/archive/archive.ts'
import type { DatabaseConfig } from '../../../src/config/database-url.ts'
import { runCommand } from '../../cli/command.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { makePasswordsCheap } from '../../fixtures/passwords/cheap-passwords.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { liveThrough } from '../../rows/site.ts'
import { decidedAnswer } from './answer.ts'
import { FILES, hashMigrations, type KeptRelease, readKept, type ReleaseFacts } from './kept.ts'
import { ACTIVE_KEYS, LIFE } from './life.ts'
import { readRows } from './postgres-rows.ts'

/**
 * Only a site to which no user can sign in has the secret of the setup link, and only version 0.1.0
 * writes invitations and checked imports.
 */
const WITHOUT_ROWS = ['secrets', 'invitations', 'checked_imports']

/** Writes what this version keeps for the tests of later ones into an empty folder. */
export async function freeze(t: TestContext, server: Server, folder: string): Promise<KeptRelease> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const keep = (name: string, content: Buffer | string) =>
    writeFileSync(join(folder, name), gzipSync(content, { level: 9 }))
  const facts: ReleaseFacts = {
    version: versionOfTree(),
    migrations: hashMigrations(),
    answers: {
      sqlite: await liveOnSqlite(t, keep),
      postgres: await liveOnPostgres(t, server, keep),
    },
  }
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify(facts, null, 2)}\n`)
  return readKept(folder)
}

type Keep = (name: string, content: Buffer | string) => void
type Answers = Record<string, string>

async function liveOnSqlite(t: TestContext, keep: Keep): Promise<Answers> {
  const database = await sqliteDatabase(t)
  const answers = await live(t, database, `sqlite:${database.path}`)
  await backUp(t, `sqlite:${database.path}`)
  keep(FILES.sqlite, readFileSync(database.path))
  keep(FILES.journal, readFileSync(`${database.path}-revoked`))
  const file = new DatabaseSync(database.path, { readOnly: true })
  assertFilled((table) => file.prepare(`SELECT count(*) AS rows FROM ${table}`).get()!.rows)
  file.close()
  return answers
}

async function liveOnPostgres(t: TestContext, server: Server, keep: Keep): Promise<Answers> {
  const url = await createDatabase(server)
  const answers = await live(t, { engine: 'postgres', url }, url)
  keep(FILES.archive, readFileSync(await backUp(t, url)))
  const rows = await asAdmin(url, readRows)
  keep(FILES.postgres, JSON.stringify(rows))
  assertFilled((table) => rows[table]!.length)
  return answers
}

/** Returns what the service answers to each active key. */
async function live(t: TestContext, database: DatabaseConfig, url: string): Promise<Answers> {
  makePasswordsCheap()
  await liveThrough(t, database, LIFE)
  makePasswordsCheap(false)
  const options = { env: { DATABASE_URL: url }, stdin: PASSWORD }
  const { code, stderr } = await runCommand('user password ada@example.com', options)
  assert.equal(code, 0, stderr)

  const service = await startDashboard(t, { database, passwords: 'real' })
  await service.visitor().signIn('ada@example.com', PASSWORD)
  const answers: Answers = {}
  for (const name of ACTIVE_KEYS) {
    const { status, body } = await decidedAnswer(service.apiPort, name)
    assert.equal(status, 200, `${name}: ${body}`)
    answers[name] = body
  }
  await service.close()
  return answers
}

async function backUp(t: TestContext, url: string): Promise<string> {
  const path = join(temporaryFolder(t), 'archive.db')
  const { code, stderr } = await runCommand(['backup', path], { env: { DATABASE_URL: url } })
  assert.equal(code, 0, stderr)
  return path
}

function assertFilled(count: (table: string) => unknown): void {
  for (const table of [...TABLES.map(({ name }) => name), ...ENDED])
    if (!WITHOUT_ROWS.includes(table))
      assert.ok(Number(count(table)) > 0, `add an act to life.ts that writes to ${table}`)
}
