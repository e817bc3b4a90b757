import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
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
  await program.done('user add ada@example.com --create', options)
  await program.serve(options)

  assert.equal(modeOf(dirname(databasePath)), '700')
  assert.equal(modeOf(join(program.folder, 'new')), '700')
  const names = readdirSync(dirname(databasePath))
  for (const end of ['', '-wal', '-shm', '-serving'])
    assert.ok(names.includes(`listing.db${end}`), `${String(names)} without listing.db${end}`)
  for (const name of names) assert.equal(modeOf(join(dirname(databasePath), name)), '600', name)
})

test('an existing directory keeps its mode', async (t) => {
  const program = programIn(t)
  const folder = dirname(program.databasePath)
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  await program.done('migrate')
  assert.equal(modeOf(folder), '755')
  assert.equal(modeOf(program.databasePath), '600')
})

test('without DATABASE_URL the database is a file in data/', async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create', { env: { DATABASE_URL: '' } })
  assert.equal(modeOf(join(program.folder, 'data', 'server-listing.db')), '600')
})

test('migrate prints what it applied, and does nothing the second time', async (t) => {
  const program = programIn(t)
  const first = await program.run('migrate')
  assert.deepEqual([first.code, first.stdout], [0, ''])
  const place = `database: ${program.databasePath}\n`
  assert.ok(first.stderr.endsWith(place), first.stderr)
  assert.match(
    first.stderr.slice(0, -place.length),
    /^applied 0001-\S+\.sql\n(applied .*\n)*the schema is up to date\n$/,
  )
  const second = await program.run('migrate')
  assert.deepEqual([second.code, second.stderr], [0, `the schema is up to date\n${place}`])
})
