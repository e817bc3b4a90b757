import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { HOUR_US, presentInstant } from '../../../src/model/instant.ts'
import { judgeDisk } from '../../../src/sqlite/file/inspect-files.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { type Program, programIn, type Served } from '../program.ts'
import { diagnose, statesOf } from './findings.ts'

/** The doctor is not told where the service is. */
const SERVICE_UNKNOWN = { service: 'warning' }

test('a healthy service has no problem and no warning', async (t) => {
  const program = programIn(t)
  const served = await program.serve()
  await program.done(['backup', join(program.folder, 'backup')])
  const env = await opsOf(served)
  await eventually(async () => (await program.run('health', { env })).code === 0)
  const found = await diagnose(program, env)
  assert.deepEqual(statesOf(found), {})
  assert.deepEqual(Object.keys(found), [
    'environment',
    'database',
    'schema',
    'rows',
    'triggers',
    'clock',
    'backup',
    'rights',
    'privacy',
    'disk',
    'journal',
    'log',
    'service',
    'site',
  ])
  assert.deepEqual(Object.keys(found.schema!), ['check', 'state', 'found', 'advice'])
  const { stdout: text } = await program.run('doctor', { env: { ...env, PROT: '1', PORT: '' } })
  assert.match(text, /^ok {7}schema: the schema is that of this program$/m)
  assert.match(text, /^warning {2}environment: .*PROT\n {9}→ did you mean PORT\?$/m)
})

test('the doctor changes nothing, beside a service, after its end and after a crash', async (t) => {
  const program = programIn(t)
  const state = () => contentOf(dirname(program.databasePath))
  const looks = async () => {
    const before = state()
    assert.deepEqual(statesOf(await diagnose(program)), { ...SERVICE_UNKNOWN, backup: 'warning' })
    assert.deepEqual(state(), before)
  }
  const killed = await program.serve()
  await program.done('user add ada@example.com')
  // A running service writes now and then.
  killed.kill('SIGSTOP')
  await looks()
  killed.kill('SIGKILL')
  await killed.ended
  await looks()
  const stopped = await program.serve()
  stopped.kill('SIGTERM')
  await stopped.ended
  assert.ok(!readdirSync(dirname(program.databasePath)).some((name) => name.endsWith('-wal')))
  await looks()
})

test('a database that cannot be used is a problem, and is not created', async (t) => {
  const program = programIn(t)
  const missing = await diagnose(program)
  assert.deepEqual(statesOf(missing), { database: 'problem', ...SERVICE_UNKNOWN })
  assert.match(missing.database!.found, /there is no database file/)
  assert.deepEqual(readdirSync(program.folder), [])

  const path = join(program.folder, 'other.db')
  const env = { DATABASE_URL: `sqlite:${path}` }
  writeFileSync(path, 'Not a database, though it is longer than a header of one.'.repeat(9))
  const damaged = await diagnose(program, env)
  assert.match(damaged.database!.found, /not an SQLite database/)
  // The files may say why.
  for (const check of ['rights', 'privacy', 'disk', 'log']) assert.ok(damaged[check], check)
  rmSync(path)
  const other = new DatabaseSync(path)
  other.exec('CREATE TABLE songs (title TEXT)')
  other.close()
  assert.match((await diagnose(program, env)).database!.found, /belongs to another program/)
  const folder = { DATABASE_URL: `sqlite:${program.folder}` }
  assert.match((await diagnose(program, folder)).database!.found, /not a regular file/)
})

test('a schema of another version is a problem', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  change(program, "UPDATE schema_migrations SET name = 'old ' || name")
  assert.match((await diagnose(program)).schema!.found, /of a version before 0\.1\.0/)
  change(
    program,
    "UPDATE schema_migrations SET name = replace(name, 'old ', ''), program_min = 900",
  )
  assert.match((await diagnose(program)).schema!.found, /needs a newer server-listing/)
})

test('old backups, entries from the future and open rights are found', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  const now = presentInstant()
  const judge = async (madeAt: number | bigint) => {
    change(program, `INSERT OR REPLACE INTO last_backup VALUES (1, ${madeAt})`)
    return statesOf(await diagnose(program))
  }
  assert.deepEqual(await judge(now - 25 * HOUR_US), SERVICE_UNKNOWN)
  assert.deepEqual(await judge(now - 27 * HOUR_US), { backup: 'warning', ...SERVICE_UNKNOWN })
  assert.deepEqual(await judge(now + HOUR_US), { clock: 'warning', ...SERVICE_UNKNOWN })
  // The driver can't read such an integer as a number.
  const [first, last] = [-(2n ** 63n), 2n ** 63n - 1n]
  assert.deepEqual(await judge(last), { clock: 'warning', ...SERVICE_UNKNOWN })
  assert.deepEqual(await judge(first), { backup: 'warning', ...SERVICE_UNKNOWN })

  await judge(now)
  chmodSync(program.databasePath, 0o644)
  const open = await diagnose(program)
  assert.deepEqual(statesOf(open), { privacy: 'warning', ...SERVICE_UNKNOWN })
  assert.match(open.privacy!.found, /listing\.db \(0644\)$/)
  chmodSync(program.databasePath, 0o400)
  const closed = await diagnose(program)
  assert.deepEqual(statesOf(closed), { rights: 'problem', ...SERVICE_UNKNOWN })
})

test('a disk with less than 512 MB is a problem', () => {
  assert.equal(judgeDisk(512 * 1024 * 1024).state, 'ok')
  const full = judgeDisk(512 * 1024 * 1024 - 1)
  assert.deepEqual(
    [full.state, full.found],
    ['problem', 'the disk of the database has 511 MB left'],
  )
})

test('a service that is not ready is a problem', async (t) => {
  const program = programIn(t)
  const env = await opsOf(await program.serve())
  change(program, 'PRAGMA legacy_alter_table = ON; ALTER TABLE api_keys RENAME TO elsewhere')
  await eventually(async () => (await program.run('health', { env })).code === 1)
  const { service } = await diagnose(program, env)
  assert.equal(service!.state, 'problem')
  assert.match(service!.found, /^not ready: claims: /)
})

test('a service that takes connections and does not answer is a problem', async (t) => {
  const program = programIn(t)
  const served = await program.serve()
  const env = await opsOf(served)
  served.kill('SIGSTOP')
  const { service } = await diagnose(program, env)
  served.kill('SIGCONT')
  assert.equal(service!.state, 'problem')
  assert.match(service!.found, /\/readyz hangs: no answer within 3 s$/)
})

async function opsOf(served: Served): Promise<Record<string, string>> {
  const metrics = /metrics at http:\/\/[^\s"]*:(\d+)/
  await served.written(metrics)
  return { OPS_PORT: String(metrics.exec(served.stdout())?.[1]) }
}

/** Readers write their marks into the index of the log. */
function contentOf(folder: string): [string, string][] {
  return readdirSync(folder).map((name) => [
    name,
    name.endsWith('-shm') ? '' : readFileSync(join(folder, name), 'base64'),
  ])
}

function change(program: Program, sql: string): void {
  const database = new DatabaseSync(program.databasePath, { timeout: 30_000 })
  database.exec(sql)
  database.close()
}
