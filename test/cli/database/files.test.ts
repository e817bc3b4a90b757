import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../program.ts'

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

test('only its owner can read the database: files 0600, directories 0700', async (t) => {
  const program = programIn(t)
  const databasePath = join(program.folder, 'new', 'deep', 'listing.db')
  // Without a umask, so that only the program removes permissions.
  const options = { env: { DATABASE_URL: `sqlite:${databasePath}` }, preload: 'process.umask(0)' }
  assert.equal((await program.begin('user add ada@example.com --create', options).ended).code, 0)
  await program.serve(options)

  assert.equal(modeOf(dirname(databasePath)), '700')
  assert.equal(modeOf(join(program.folder, 'new')), '700')
  const names = readdirSync(dirname(databasePath))
  for (const end of ['', '-wal', '-shm', '-serving'])
    assert.ok(names.includes(`listing.db${end}`), `${String(names)} without listing.db${end}`)
  for (const name of names) assert.equal(modeOf(join(dirname(databasePath), name)), '600', name)
})

test('without DATABASE_URL the database is a file in data/', async (t) => {
  const program = programIn(t)
  const options = { env: { DATABASE_URL: '' } }
  assert.equal((await program.begin('user add ada@example.com --create', options).ended).code, 0)
  assert.equal(modeOf(join(program.folder, 'data', 'server-listing.db')), '600')
})
