import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { isReleased, versionOfTree } from '../../../scripts/release/changelog.ts'
import { openArchive } from '../../../src/archive/open.ts'
import type { DatabaseConfig } from '../../../src/config/database-url.ts'
import { migratePostgres } from '../../../src/postgres/store.ts'
import { MIGRATIONS } from '../../../src/sqlite/migrate.ts'
import { runCommand } from '../../cli/command.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { migrateFurther, withLater } from '../../fixtures/later.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { decidedAnswer } from './answer.ts'
import { freeze } from './freeze.ts'
import { FILES, folderOf, type KeptRelease, keptReleases } from './kept.ts'
import { ACTIVE_KEYS, ENDED_KEYS } from './life.ts'
import { placed, postgresOf, sqliteOf } from './placed.ts'

/*
 * Each released version has left a small database and an archive in a folder beside this file. The
 * present program upgrades and serves them. `npm run freeze` writes those of the next release.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** A migration of the next version that keeps this program working: it adds, and rewrites rows. */
const NEXT = 'ALTER TABLE users ADD COLUMN motto TEXT; UPDATE users SET motto = email'

for (const release of keptReleases())
  test(`the database and the archive of ${release.version} keep working`, (t) =>
    checkRelease(t, release))

test('the database and the archive of a release of this tree keep working', async (t) => {
  const version = versionOfTree()
  if (process.env.FREEZE === undefined)
    return checkRelease(t, await freeze(t, server, join(temporaryFolder(t), version)))
  assert.ok(
    !isReleased(version),
    `the changelog has the date of ${version}, so its files stay as they are. Raise the version ` +
      'in package.json, or give the changelog its heading "Unreleased" back',
  )
  await checkRelease(t, await freeze(t, server, folderOf(version)))
})

async function checkRelease(t: TestContext, release: KeptRelease): Promise<void> {
  await t.test('its SQLite file is migrated and served', async (each) => {
    await checkServed(each, sqliteOf(each, release), release.answers.sqlite)
  })
  await t.test('its SQLite file is served with the schema of a next version', async (each) => {
    const database = sqliteOf(each, release)
    await migrateFurther(database, NEXT)
    await checkServed(each, database, release.answers.sqlite)
  })
  await t.test('its PostgreSQL database is migrated and served', async (each) => {
    const database = await postgresOf(server, release)
    await migratePostgres(database.url)
    await checkServed(each, database, release.answers.postgres)
  })
  await t.test(
    'its PostgreSQL database is served with the schema of a next version',
    async (each) => {
      const database = await postgresOf(server, release)
      await migrateFurther(database, NEXT)
      await checkServed(each, database, release.answers.postgres)
    },
  )
  await t.test(
    'its archive restores into both engines, and its file into PostgreSQL',
    async (each) => {
      const archive = placed(each, release, FILES.archive)
      const file = sqliteOf(each, release).path
      const { sqlite: answersOfFile, postgres: answers } = release.answers
      const path = join(temporaryFolder(each), 'listing.db')
      await restore(archive, `sqlite:${path}`)
      await checkServed(each, { engine: 'sqlite', path }, answers)
      for (const [from, expected] of [
        [archive, answers],
        [file, answersOfFile],
      ] as const) {
        const url = await createDatabase(server)
        await restore(from, url)
        await checkServed(each, { engine: 'postgres', url }, expected)
      }
    },
  )
  await t.test('a next version reads its archive', async (each) => {
    const migrations = withLater(MIGRATIONS, NEXT)
    const opened = await openArchive(placed(each, release, FILES.archive), migrations)
    const found = opened.database.prepare('SELECT email, motto FROM users ORDER BY email').all()
    opened.close()
    assert.equal(found.length, 3)
    for (const { email, motto } of found) assert.equal(motto, email)
  })
}

/** Each key and each password does what it did in the released version. */
async function checkServed(
  t: TestContext,
  database: DatabaseConfig,
  answers: Record<string, string>,
): Promise<void> {
  const service = await startDashboard(t, { database, passwords: 'real' })
  for (const name of ACTIVE_KEYS) {
    const { status, body } = await decidedAnswer(service.apiPort, name)
    assert.deepEqual([name, status, body], [name, 200, answers[name]])
  }
  for (const name of ENDED_KEYS) {
    const { status } = await decidedAnswer(service.apiPort, name)
    assert.deepEqual([name, status], [name, 401])
  }
  const ada = service.visitor()
  const { status } = await ada.signIn('ada@example.com', PASSWORD)
  assert.equal(status, 303)
  for (const path of ['servers', 'api', 'organizations', 'account'])
    assert.equal((await ada.get(`/dashboard/${path}`)).status, 200, path)
  await service.close()
}

async function restore(from: string, url: string): Promise<void> {
  const { code, stderr } = await runCommand(['restore', '--yes', from], {
    env: { DATABASE_URL: url },
  })
  assert.equal(code, 0, stderr)
}
