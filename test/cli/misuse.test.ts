import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { assertRefused, commandsIn } from './command.ts'

test('an error about the value in DATABASE_URL_FILE names the file and does not repeat the value', async (t) => {
  const program = commandsIn(t)
  const file = join(program.folder, 'url')
  writeFileSync(file, 'hunter2')
  const env = { DATABASE_URL: '', DATABASE_URL_FILE: file }
  const held = await program.run('user list', { env })
  assertRefused(held, 2, file, 'DATABASE_URL_FILE', 'must begin with sqlite:', 'no scheme')
  assert.doesNotMatch(held.stderr, /hunter2/)
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
