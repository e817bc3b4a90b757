import assert from 'node:assert/strict'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, type TestContext, test } from 'node:test'
import { runCommand } from '../../cli/command.ts'
import { type InstalledProgram, installedProgramIn } from '../../cli/program.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { migrateFurther } from '../../fixtures/later.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { decidedAnswer, decidedAnswerTo } from './answer.ts'
import { installKept, runLines } from './installed.ts'
import { type KeptRelease, keptPackages } from './kept.ts'
import { keyNamed } from './life.ts'
import { postgresOf, sqliteOf } from './placed.ts'
import { type Rows, readRows } from './postgres-rows.ts'

/*
 * "Go back" of docs/versions.md, with the kept package of each release and its files. The first two
 * tests need a schema that the release can work with, as the page says of 0.1.0. If a migration
 * ends that, they fail: the page then names the last version that works, and a test of the way by a
 * restore takes their place. The last test already has such a migration: the old program must
 * refuse the schema and change nothing.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

for (const release of keptPackages())
  test(`going back from this program to ${release.version}`, async (t) => {
    const bin = installKept(t, release)
    for (const engine of ['sqlite', 'postgres'] as const) {
      const open = (each: TestContext) => openSite(each, release, engine, bin)
      await t.test(`on ${engine}, the old program serves the newer database`, async (each) => {
        await goBack(each, await open(each))
      })
      await t.test(
        `on ${engine}, the old program and the backup keep revocations`,
        async (each) => {
          await goBackToBackup(each, await open(each))
        },
      )
      await t.test(`on ${engine}, the old program refuses a schema beyond it`, async (each) => {
        await refuseSchema(await open(each))
      })
      await t.test(
        `on ${engine}, a new database takes over what has ended behind such a schema`,
        async (each) => {
          await goBackToNewDatabase(each, await open(each))
        },
      )
    }
  })

type Located = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

/** The files of a release, with the program of it and the present one. */
interface Site {
  database: Located
  old: InstalledProgram
  bin: string
  env: { DATABASE_URL: string }
  /** What the old program answered to each active key. */
  answers: Record<string, string>
  /** Runs a command of this program, and returns its output. */
  present(args: string, stdin?: string): Promise<string>
}

async function openSite(
  t: TestContext,
  release: KeptRelease,
  engine: 'sqlite' | 'postgres',
  bin: string,
): Promise<Site> {
  const database = engine === 'sqlite' ? sqliteOf(t, release) : await postgresOf(server, release)
  const env = {
    DATABASE_URL: database.engine === 'sqlite' ? `sqlite:${database.path}` : database.url,
  }
  return {
    database,
    env,
    bin,
    old: installedProgramIn(t, bin),
    answers: release.answers[engine],
    async present(args, stdin = '') {
      const { code, stdout, stderr } = await runCommand(args, { env, stdin })
      assert.equal(code, 0, `${args}: ${stderr}`)
      return stdout.trim()
    },
  }
}

/** Revoked before the upgrade, after it, or with their user. */
const ENDED = { website: 401, team: 401, leaked: 401, 'of a gone user': 401 }

/** Keys that this program has issued. */
interface Issued {
  active: string
  ofDisabled: string
  ofBanned: string
}

/** Adds a user of a site with the old program. Returns the key. */
async function addIvy({ old, env }: Site): Promise<string> {
  await old.done('user add --external-id 4799 ivy@example.com', { env })
  return (await old.done('key issue --external-id 4799 --name new', { env })).trim()
}

/** Upgrades the database, and ends keys in each way. */
async function upgradeAndEnd({ present, database }: Site): Promise<Issued> {
  await present('migrate')
  const issueTo = async (email: string) => {
    await present(`user add ${email}`)
    return present(`key issue --user ${email} --name new`)
  }
  const active = await issueTo('eve@example.com')
  const ofDisabled = await issueTo('fay@example.com')
  const ofBanned = await issueTo('gus@example.com')
  await present('key revoke --key-stdin', keyNamed('website'))
  await present('user remove bob@example.com --yes')
  await present('user disable fay@example.com')
  await present('user enable cem@example.com')
  await ban(database, `'gus@example.com', 'ivy@example.com'`)
  return { active, ofDisabled, ofBanned }
}

/** As the site does. */
async function ban(database: Located, emails: string): Promise<void> {
  const sql = `UPDATE users SET banned_at = created_at WHERE email IN (${emails})`
  if (database.engine === 'postgres')
    return asAdmin(database.url, async (admin) => void (await admin.query(sql)))
  const file = new DatabaseSync(database.path)
  file.exec(sql)
  file.close()
}

async function goBack(t: TestContext, site: Site): Promise<void> {
  const ofIvy = await addIvy(site)
  const { active, ofDisabled, ofBanned } = await upgradeAndEnd(site)
  const { old, env, answers, bin, present } = site
  const commands = await present(`revocations export ${join(temporaryFolder(t), 'revoked.txt')}`)
  assert.match(commands, /--external-id '4799'/)
  assert.equal(runLines(bin, `set -e; ${commands}`, env).status, 0)
  const served = await old.serve({ env })
  assert.equal((await decidedAnswer(served.port, 'bot')).body, answers.bot)
  assert.equal((await decidedAnswerTo(served.port, active)).status, 200)
  assert.equal((await decidedAnswerTo(served.port, ofDisabled)).status, 401)
  assert.equal((await decidedAnswerTo(served.port, ofIvy)).status, 401)
  // The old program knows no ban, but its own words leave the site's alone.
  await old.done('user disable gus@example.com', { env })
  await old.done('user enable gus@example.com', { env })
  assert.equal((await decidedAnswerTo(served.port, ofBanned)).status, 401)
  await expectStatuses(served.port, { bot: 200, 'of a disabled user': 200, ...ENDED })
  // The old commands work too, and the newer program takes over from there.
  await old.done('user enable fay@example.com', { env })
  await old.done('key revoke --key-stdin', { env, stdin: active })
  await end(served)
  const service = await startDashboard(t, { database: site.database })
  assert.equal((await decidedAnswerTo(service.apiPort, active)).status, 401)
  assert.equal((await decidedAnswerTo(service.apiPort, ofDisabled)).status, 200)
  assert.equal((await decidedAnswerTo(service.apiPort, ofBanned)).status, 401)
  await expectStatuses(service.apiPort, { bot: 200, website: 401, team: 401 })
  await service.close()
}

async function goBackToBackup(t: TestContext, site: Site): Promise<void> {
  const { old, env, database } = site
  const backup = join(temporaryFolder(t), 'before-upgrade.db')
  await old.done(['backup', backup], { env })
  const { active, ofDisabled } = await upgradeAndEnd(site)
  const restore = ['restore', '--yes', backup]
  const restored = await old.run(restore, { env })
  if (database.engine === 'sqlite' && restored.code === 1) {
    assert.match(restored.stderr, /trigger/)
    moveAway(t, database.path)
    await old.done(restore, { env })
  } else assert.equal(restored.code, 0, restored.stderr)
  const served = await old.serve({ env })
  // All other changes are lost, such as new users and who is disabled.
  assert.equal((await decidedAnswerTo(served.port, active)).status, 401)
  assert.equal((await decidedAnswerTo(served.port, ofDisabled)).status, 401)
  await expectStatuses(served.port, { bot: 200, 'of a disabled user': 401, ...ENDED })
  await end(served)
}

/** As docs/operations/upgrade.md says, if the old program can't use the schema. */
async function goBackToNewDatabase(t: TestContext, site: Site): Promise<void> {
  const { old, env, database, present } = site
  const folder = temporaryFolder(t)
  const [backup, list] = [join(folder, 'before-upgrade.db'), join(folder, 'revoked.txt')]
  const hal = "-hal's@example.com"
  await old.done(['user', 'add', '--', hal], { env })
  const ofIvy = await addIvy(site)
  await old.done(['backup', backup], { env })
  await upgradeAndEnd(site)
  await present('user disable ada@example.com')
  await present(`user disable -- ${hal}`)
  const commands = (await present(`revocations export ${list}`)).split('\n')
  await migrateBeyond(database)
  const refused = await old.run(['restore', '--yes', backup], { env })
  assert.match(refused.stderr, /needs a newer server-listing/)
  const DATABASE_URL =
    database.engine === 'sqlite'
      ? `sqlite:${join(folder, 'listing.db')}`
      : await createDatabase(server)
  const place = { env: { DATABASE_URL } }
  await old.done(['restore', backup, '--revocations', list], place)
  const disabled = commands.filter((command) => {
    const { status, stderr } = runLines(site.bin, command, place.env)
    // The backup lacks those who came later.
    if (status !== 0) assert.match(stderr, /there is no user (?:fay|gus)@example\.com/)
    return status === 0
  })
  assert.equal(disabled.length, 3)
  const served = await old.serve(place)
  assert.equal((await decidedAnswerTo(served.port, ofIvy)).status, 401)
  await expectStatuses(served.port, { bot: 401, 'of a disabled user': 401, ...ENDED })
  // The keys of a user who is only disabled come back.
  await old.done(['user', 'enable', 'ada@example.com'], place)
  await expectStatuses(served.port, { bot: 200, website: 401 })
  await end(served)
}

/** Moves the file, its -wal and -shm away, and leaves the journal. */
function moveAway(t: TestContext, path: string): void {
  const away = join(temporaryFolder(t), 'away')
  mkdirSync(away)
  for (const each of [path, `${path}-wal`, `${path}-shm`])
    if (existsSync(each)) renameSync(each, join(away, basename(each)))
  assert.ok(existsSync(`${path}-revoked`))
}

async function refuseSchema({ database, old, env, present }: Site): Promise<void> {
  await present('migrate')
  await migrateBeyond(database)
  const before = await rowsOf(database)
  const served = await old.serve({ env })
  const { status } = await ask(served.port, { key: keyNamed('bot') })
  assert.equal(status, 503)
  await end(served)
  const required = await old.run('serve --require-database', { env })
  assert.equal(required.code, 78, required.stderr)
  const command = await old.run('key revoke --key-stdin', { env, stdin: keyNamed('bot') })
  assert.match(command.stderr, /needs a newer server-listing/)
  const afterwards = await rowsOf(database)
  // 0.1.0 sums up counts older than two days on PostgreSQL, also in a schema that it refuses.
  if (database.engine === 'postgres') afterwards.usage_counts = before.usage_counts!
  assert.deepEqual(afterwards, before)
}

/** Only a later program can work with the schema then. */
const migrateBeyond = (database: Located) =>
  migrateFurther(database, 'ALTER TABLE users ADD COLUMN motto TEXT', 'breaking')

/** All rows of all tables, those of the ledger too. */
async function rowsOf(database: Located): Promise<Rows> {
  if (database.engine === 'postgres') return asAdmin(database.url, readRows)
  const file = new DatabaseSync(database.path, { readOnly: true })
  const tables = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const rows = tables.map(({ name }): [string, object[]] => [
    String(name),
    file.prepare(`SELECT * FROM "${String(name)}"`).all(),
  ])
  file.close()
  return Object.fromEntries(rows)
}

async function expectStatuses(port: number, expected: Record<string, number>): Promise<void> {
  const found: Record<string, number> = {}
  for (const name of Object.keys(expected)) found[name] = (await decidedAnswer(port, name)).status
  assert.deepEqual(found, expected)
}

async function end(served: Awaited<ReturnType<InstalledProgram['serve']>>): Promise<void> {
  served.kill('SIGTERM')
  const { code, stderr } = await served.ended
  assert.equal(code, 0, stderr)
}
