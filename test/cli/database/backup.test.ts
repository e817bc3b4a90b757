import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

test('a file that is no database is moved away by hand, and a restore makes a new one', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const file = join(program.folder, 'backup')
  await program.done(['backup', file])
  const damaged = Buffer.from('no database any more'.repeat(500))
  writeFileSync(program.databasePath, damaged)
  const refused = await program.run(['restore', '--yes', file])
  assertRefused(refused, 1, /the file there is damaged, or no SQLite database\. Move it away/)
  assert.deepEqual(readFileSync(program.databasePath), damaged)
  for (const end of ['', '-wal', '-shm']) rmSync(`${program.databasePath}${end}`, { force: true })
  const done = await program.run(['restore', file])
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stderr, /There was no database before\n/)
  assert.match(await program.done('user list'), /ada@example\.com/)
})

test('backup and restore name a damaged line of the journal once, and go on', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const stdin = await program.done('key issue --user ada@example.com --name bot')
  await program.done('key revoke --key-stdin', { stdin })
  appendFileSync(`${program.databasePath}-revoked`, '\nnotes\n')
  const file = join(program.folder, 'backup')
  for (const args of [
    ['backup', file],
    ['restore', '--yes', file],
  ]) {
    const { code, stderr } = await program.run(args)
    assert.equal(code, 0, stderr)
    const warnings = stderr.split('\n').filter((line) => line.startsWith('warning: '))
    assert.equal(warnings.length, 1, stderr)
    assert.match(warnings[0]!, /cannot read the journal .*listing\.db-revoked: line 4 is not an in/)
  }
})

test('restore without a file only revokes what a list has', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const key = await program.done('key issue --user ada@example.com --name bot')
  const file = join(program.folder, 'before')
  await program.done(['backup', file])
  const hash = createHash('sha256').update(key).digest('hex')
  const journal = join(program.folder, 'journal')
  writeFileSync(journal, `\n2026-01-01T00:00:00.000000Z key ${hash}\n`)
  const args = ['restore', '--yes', '--json', '--revocations', journal, file]
  const { stdout } = await program.run(['restore', '--json', '--revocations', journal])
  assert.deepEqual(JSON.parse(stdout), { listed: 1, added: 1 })
  assert.match(await program.done('key list --user ada@example.com'), /2026-01-01|revoked/)
  // An archive has a list, too.
  const after = join(program.folder, 'after')
  await program.done(['backup', after])
  const again = await program.run(['restore', '--revocations', after])
  assert.match(again.stderr, /lists: 1 key; listed here before: 1/)
  assert.equal((await program.run(args)).code, 0)
})

test('a folder keeps the newest backups', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --create ada@example.com')
  const names = () =>
    readdirSync(program.folder).filter((name) => name.startsWith('server-listing-'))
  writeFileSync(join(program.folder, 'server-listing-20200101T000000000Z'), 'an old one')
  writeFileSync(join(program.folder, 'server-listing-notes'), 'not ours')
  await program.done(['backup', '--keep', '1', program.folder])
  const [first, ...kept] = names().toSorted()
  assert.match(first!, /^server-listing-\d{8}T\d{9}Z$/)
  assert.deepEqual(kept, ['server-listing-notes'])

  // The clock was set back since.
  writeFileSync(join(program.folder, 'server-listing-29990101T000000000Z'), 'of the future')
  const { stderr } = await program.run(['backup', '--keep', '1', program.folder])
  const [last, ...rest] = names().toSorted()
  assert.ok(stderr.includes(last!), stderr)
  assert.deepEqual(rest, ['server-listing-notes'])

  // The newest two of three others, and nothing that is no archive.
  const others = ['20200102', '20200103', '20200101'].map(
    (day) => `server-listing-${day}T000000000Z`,
  )
  for (const name of others) writeFileSync(join(program.folder, name), 'an old one')
  await program.done(['backup', '--keep', '3', program.folder])
  assert.deepEqual(names().toSorted().slice(0, -2), [others[1], last])
})
