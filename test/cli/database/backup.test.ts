import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { assertRefused, commandsIn } from '../command.ts'

test('a backup that the database cannot record is good, with a warning', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const database = new DatabaseSync(program.databasePath)
  database.exec(`CREATE TRIGGER refuse BEFORE INSERT ON last_backup
    BEGIN SELECT raise(ABORT, 'refused'); END`)
  database.close()
  const file = join(program.folder, 'backup')
  const { code, stderr } = await program.run(['backup', file])
  assert.equal(code, 0)
  assert.match(stderr, /^backed up .*\nwarning: the database does not record this .*\ndatabase: /)
  assert.ok(statSync(file).size > 0)
})

test("a restore in place of a database that can't be read asks, and warns", async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const file = join(program.folder, 'backup')
  await program.done(['backup', file])
  const damaged = Buffer.from('no database any more'.repeat(500))
  writeFileSync(program.databasePath, damaged)
  const refused = await program.run(['restore', file])
  assertRefused(refused, 2, /in place of a database that can't be read \(.*listing\.db.*--yes/)
  assert.deepEqual(readFileSync(program.databasePath), damaged)
  const done = await program.run(['restore', '--yes', file])
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stderr, /^warning: only the journal of revocations told .*\nrestored /)
  assert.match(await program.done('user list'), /ada@example\.com/)
})

test('a folder keeps the newest backups, and a misuse changes nothing', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const names = () =>
    readdirSync(program.folder).filter((name) => name.startsWith('server-listing-'))
  writeFileSync(join(program.folder, 'server-listing-20200101T000000000Z'), 'an old one')
  writeFileSync(join(program.folder, 'server-listing-notes'), 'not ours')
  await program.done(['backup', '--keep', '1', program.folder])
  const [first, manifest, ...others] = names().toSorted()
  assert.match(first!, /^server-listing-\d{8}T\d{9}Z$/)
  assert.deepEqual([manifest, others], [`${first}.json`, ['server-listing-notes']])

  const misused: [string[], RegExp][] = [
    [['backup'], /missing required argument 'target'/],
    [['backup', '--keep', '0', program.folder], /--keep must be a number from 1 to 10000, not "0"/],
    [['backup', '--keep', '2', join(program.folder, 'x')], /--keep needs a folder of backups/],
    [['backup', '--json', '-'], /--json and --keep need a file or a folder/],
  ]
  for (const [args, sentence] of misused) {
    const { code, stdout, stderr } = await program.run(args)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, sentence)
  }
  assert.equal(names().length, 3)
})
