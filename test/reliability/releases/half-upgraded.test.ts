import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { MIGRATIONS } from '../../../src/sqlite/migrate.ts'
import { installedProgramIn, type Program, programIn } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { installKept } from './installed.ts'
import { type KeptRelease, keptPackages } from './kept.ts'
import { sqliteOf } from './placed.ts'

/*
 * An upgrade of a SQLite file that ends in the middle leaves the file of the release. Commands
 * refuse that with one sentence, and the next `migrate` completes it.
 */

const known = MIGRATIONS.length
const last = MIGRATIONS.at(-1)!.name
const DONE = `applied ${last}\nthe schema is up to date\n`

/** So many that the upgrade takes a second. */
const INVITATIONS = 100_000

/** A file of the release whose invitations another program keeps when they end. */
function slowFile(t: TestContext, release: KeptRelease): string {
  const { path } = sqliteOf(t, release)
  change(
    path,
    `CREATE TABLE ended (email TEXT, note TEXT);
     CREATE TRIGGER ended AFTER DELETE ON invitations
       BEGIN INSERT INTO ended VALUES (old.email, hex(zeroblob(100))); END;
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${INVITATIONS})
     INSERT INTO invitations
       SELECT printf('0190b7a0-0000-7000-8000-%012x', i), organizations.id, i || '@example.com',
         users.id, 0
       FROM n, (SELECT id FROM organizations LIMIT 1) AS organizations,
         (SELECT id FROM users LIMIT 1) AS users`,
  )
  return path
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

/** All rows but the instants of migrations. */
function rowsOf(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path)
  const names = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  const all = names.map(({ name }) => {
    const columns = name === 'schema_migrations' ? 'number, name, program_min' : '*'
    return [name, database.prepare(`SELECT ${columns} FROM "${String(name)}"`).all()]
  })
  database.close()
  return Object.fromEntries(all)
}

const outdated = (path: string) =>
  `error: the schema of the database file ${path} is older than this program: it has ${known - 1} of ${known} migrations. Make a backup with the earlier version, then update it with \`server-listing migrate\`\n`

/** Commands that change no schema refuse the file, and it keeps its bytes. */
async function assertOld({ run, folder }: Program, path: string, bytes: Buffer): Promise<void> {
  const env = { DATABASE_URL: `sqlite:${path}` }
  for (const args of ['user list', `revocations export ${folder}/list`]) {
    const { code, stderr } = await run(args, { env })
    assert.deepEqual([code, stderr], [1, outdated(path)], args)
  }
  const doctor = await run('doctor', { env })
  assert.ok(doctor.stdout.includes(outdated(path).slice('error: '.length)), doctor.stdout)
  assert.ok(readFileSync(path).equals(bytes), 'the file has changed')
}

/** Completes the upgrade, as one without interruption. */
async function assertCompletes({ run }: Program, path: string, upgraded: string): Promise<void> {
  const { code, stderr } = await run('migrate', { env: { DATABASE_URL: `sqlite:${path}` } })
  assert.deepEqual([code, stderr], [0, `${DONE}database: ${path}\n`])
  assert.deepEqual(rowsOf(path), rowsOf(upgraded))
}

/** A copy that was upgraded without interruption. */
async function upgrade(t: TestContext, { done }: Program, path: string): Promise<string> {
  const copy = join(temporaryFolder(t), 'upgraded.db')
  copyFileSync(path, copy)
  await done('migrate', { env: { DATABASE_URL: `sqlite:${copy}` } })
  return copy
}

for (const release of keptPackages()) {
  for (const command of ['migrate', 'serve'])
    test(`a \`${command}\` that is killed while it upgrades a file of ${release.version} changes nothing`, async (t) => {
      const program = programIn(t)
      const path = slowFile(t, release)
      const upgraded = await upgrade(t, program, path)
      const bytes = readFileSync(path)
      const env = { DATABASE_URL: `sqlite:${path}` }
      const killed = program.begin(command, { env })
      // The transaction writes to the log what no longer fits into memory.
      await eventually(
        async () => existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 2 ** 20,
      )
      killed.kill('SIGKILL')
      assert.equal((await killed.ended).signal, 'SIGKILL')
      assert.ok(statSync(`${path}-wal`).size > 0 && existsSync(`${path}-shm`), 'not in the middle')

      // As a copy of the folder, it is the file of a stopped service.
      const folder = temporaryFolder(t)
      for (const name of readdirSync(dirname(path)))
        copyFileSync(join(dirname(path), name), join(folder, name))
      const restored = { DATABASE_URL: `sqlite:${program.folder}/restored.db` }
      await program.done(['restore', join(folder, 'sqlite')], { env: restored })

      await assertOld(program, path, bytes)
      await assertCompletes(program, path, upgraded)
    })

  test(`a failed write stops the upgrade of a file of ${release.version}, and changes nothing`, async (t) => {
    const program = programIn(t)
    const path = slowFile(t, release)
    const upgraded = await upgrade(t, program, path)
    const bytes = readFileSync(path)
    const env = { DATABASE_URL: `sqlite:${path}` }
    const limited = program.begin('migrate', { env, fileSizeMax: 2 ** 22 })
    const { code, stderr } = await limited.ended
    const sentence = `cannot use the database file ${path}: the system cannot read or write it`
    assert.deepEqual([code, stderr], [1, `error: ${sentence}\n`])
    await assertOld(program, path, bytes)
    await assertCompletes(program, path, upgraded)
  })

  test(`a file of ${release.version} that refuses a migration stays as it is`, async (t) => {
    const program = programIn(t)
    const { path } = sqliteOf(t, release)
    const upgraded = await upgrade(t, program, path)
    const env = { DATABASE_URL: `sqlite:${path}` }
    change(path, 'ALTER TABLE users ADD COLUMN banned_at TEXT')
    const bytes = readFileSync(path)
    const sentence = `error: migration ${last} failed and was rolled back: duplicate column name: banned_at. Mend that, and try again\n`
    for (const [args, expected] of [
      ['migrate', 1],
      ['serve --require-database', 78],
      [`backup ${program.folder}/archive`, 1],
    ] as const) {
      const { code, stdout, stderr } = await program.begin(args, { env }).ended
      assert.deepEqual([args, code, stdout, stderr], [args, expected, '', sentence])
    }
    await assertOld(program, path, bytes)
    assert.deepEqual(readdirSync(program.folder), [])
    change(path, 'ALTER TABLE users DROP COLUMN banned_at')
    await assertCompletes(program, path, upgraded)
  })

  test(`no \`migrate\` changes a file that ${release.version} serves`, async (t) => {
    const program = programIn(t)
    const { path } = sqliteOf(t, release)
    const env = { DATABASE_URL: `sqlite:${path}` }
    const old = await installedProgramIn(t, installKept(t, release)).serve({ env })
    const { code, stderr } = await program.run('migrate', { env })
    const sentence = `the schema is older than this program, and the database file ${path} is being served by process ${old.pid}; one file has one serving process. Stop the service, or wait for another migrate`
    assert.deepEqual([code, stderr], [1, `error: ${sentence}\n`])
    old.kill('SIGTERM')
    assert.equal((await old.ended).code, 0)
    await assertOld(program, path, readFileSync(path))
    await assertCompletes(program, path, await upgrade(t, program, path))
  })

  test(`two upgrades of a file of ${release.version} at once do it once`, async (t) => {
    const program = programIn(t)
    const path = slowFile(t, release)
    const env = { DATABASE_URL: `sqlite:${path}` }
    const both = [program.begin('migrate', { env }), program.begin('migrate', { env })]
    const ended = await Promise.all(both.map((each) => each.ended))
    const place = `database: ${path}\n`
    assert.deepEqual(ended.map(({ stderr }) => stderr).toSorted(), [
      `${DONE}${place}`,
      `the schema is up to date\n${place}`,
    ])
  })
}
