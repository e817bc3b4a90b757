import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MISUSES } from './misuses.ts'
import { assertRefused, commandsIn } from './command.ts'

/** An empty variable counts as unset. */
const DEFAULT_PORTS = { PORT: '', DASHBOARD_PORT: '', OPS_PORT: '' }

test('every command exits with 2 for a malformed DATABASE_URL', async (t) => {
  const program = commandsIn(t)
  const commands = [
    'migrate',
    'restore archive.db',
    'user add ada@example.com',
    'user list',
    'user remove ada@example.com',
    'key issue --user ada@example.com --name bot',
    'key list --user ada@example.com',
    'key revoke --user ada@example.com an-id',
    'server import --user ada@example.com -',
    'server list --user ada@example.com',
  ]
  const env = { DATABASE_URL: 'mysql://ada:hunter2@host/db' }
  await Promise.all(
    commands.map(async (command) => {
      const refused = await program.run(command, { env, stdin: '[]' })
      assertRefused(refused, 2, 'DATABASE_URL', '"mysql"', 'sqlite:data/listing.db')
      assert.doesNotMatch(refused.stderr, /hunter2/)
    }),
  )
  assert.deepEqual(readdirSync(program.folder), [])
})

test('an error about DATABASE_URL names its source and the value found', async (t) => {
  const program = commandsIn(t)
  const list = (env: Record<string, string>) => program.run('user list', { env })
  const memory = await list({ DATABASE_URL: 'sqlite::memory:' })
  assertRefused(memory, 2, 'must name a file', '"sqlite::memory:"')

  const file = join(program.folder, 'url')
  writeFileSync(file, 'hunter2')
  const held = await list({ DATABASE_URL: '', DATABASE_URL_FILE: file })
  assertRefused(held, 2, file, 'DATABASE_URL_FILE', 'must begin with sqlite:', 'no scheme')
  assert.doesNotMatch(held.stderr, /hunter2/)
  const missing = await list({ DATABASE_URL: '', DATABASE_URL_FILE: `${file}.no` })
  assertRefused(missing, 2, `${file}.no`, 'cannot read the file', 'ENOENT')
})

// A path below a file stands for an unwritable one, because root can write to any directory.
test('an unusable database path is named with the reason', async (t) => {
  const program = commandsIn(t)
  const file = join(program.folder, 'notes.txt')
  writeFileSync(
    file,
    'Not a database, though it is longer than the hundred bytes of the header of one.'.repeat(9),
  )
  const foreign = join(program.folder, 'foreign.db')
  const database = new DatabaseSync(foreign)
  database.exec('CREATE TABLE songs (title TEXT)')
  database.close()
  const before = readdirSync(program.folder)

  const run = (path: string, command = 'user add ada@example.com --create') =>
    program.run(command, { env: { DATABASE_URL: `sqlite:${path}` } })
  assertRefused(await run(program.folder), 1, program.folder, 'it is a folder')
  assertRefused(await run(join(file, 'x.db')), 1, join(file, 'x.db'), 'is a file, not a folder')
  assertRefused(await run(file), 1, file, 'not an SQLite database')
  assertRefused(await run(foreign), 1, 'belongs to another program')
  assertRefused(await run('/dev/null'), 1, '/dev/null', 'not a regular file')
  const long = join(program.folder, 'x'.repeat(300))
  assertRefused(await run(long), 1, 'too long for a file system')
  const missing = join(program.folder, 'no.db')
  assertRefused(await run(missing, 'user list'), 1, missing, 'no database file', 'migrate')
  assert.deepEqual(readdirSync(program.folder), before)
})

test('all errors in the environment are reported at once', async (t) => {
  const program = commandsIn(t)
  const env = { PORT: '80800', HOST: 'a b', BASE_URL: 'example.com', LOG_LEVEL: 'loud' }
  for (const command of ['serve', 'user list']) {
    const refused = await program.run(command, { env })
    assertRefused(refused, 2, 'PORT must be a port from 0 to 65535, not "80800"')
    assertRefused(refused, 2, /HOST .*"a b"/, /BASE_URL .*https:\/\/, not "example.com"/)
    assertRefused(
      refused,
      2,
      'LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"',
    )
  }
})

test('a wrong option of serve is named with its value, and never with a password', async (t) => {
  const program = commandsIn(t)
  const refused = await program.run(['serve', '--port', '80800', '--host', 'a b'])
  assertRefused(refused, 2, '--port must be a port from 0 to 65535, not "80800"')
  assertRefused(refused, 2, '--host must be an IP address or a host name, not "a b"')
  const same = await program.run('serve --port 8081', { env: { DASHBOARD_PORT: '8081' } })
  assertRefused(same, 2, 'DASHBOARD_PORT must differ from --port, which is 8081')
  const url = await program.run('serve --database mysql://ada:hunter2@host/db')
  assertRefused(url, 2, '--database must begin with sqlite: or postgres://')
  assert.doesNotMatch(url.stderr, /hunter2/)
})

test('each misuse has its sentence and exit code, and changes nothing', async (t) => {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  const dump = () => {
    const database = new DatabaseSync(program.databasePath)
    const rows = database.prepare('SELECT action FROM audit_log').all()
    database.close()
    return rows
  }
  const before = dump()
  for (const { args, env = {}, stdin = '', code, sentence } of MISUSES) {
    const ended = await program.run(args, { env: { ...DEFAULT_PORTS, ...env }, stdin })
    const label = `${String(args)} ${JSON.stringify(env)}`
    assert.match(ended.stderr, sentence, label)
    assert.deepEqual([ended.code, ended.stdout], [code, ''], label)
    assert.match(ended.stderr, /^error: /, label)
    assert.doesNotMatch(ended.stderr, /\n\s+at |hunter2|(ab){9}/, label)
  }
  assert.deepEqual(dump(), before)
  assert.ok(MISUSES.length >= 55)
})
