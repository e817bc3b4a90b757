import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { commandsIn } from '../command.ts'

/** Every command that works on a database, but `serve`, `migrate` and `user add --create`. */
const OTHERS: readonly (readonly [args: string, stdin?: string])[] = [
  ['user add ada@example.com'],
  ['user password ada@example.com', 'correct horse battery'],
  ['user link ada@example.com'],
  ['user list'],
  ['audit list'],
  ['organization list'],
  ['key list --unused-for 90d'],
  ['server remove --yes --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10'],
  ['user remove ada@example.com'],
  ['key issue --user ada@example.com --name bot'],
  ['key list --user ada@example.com'],
  ['key revoke --user ada@example.com 3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10'],
  ['key revoke --key-stdin', `svc_live_${'ab'.repeat(32)}`],
  ['server import --user ada@example.com -', '[{"name":"a","address":"a.example"}]'],
  ['server list'],
  ['server list --user ada@example.com'],
]

/** Where a link leads. */
const DASHBOARD = { DASHBOARD_URL: 'https://listing.example.com' }

test('only serve, migrate and user add --create make or migrate a database', async (t) => {
  const program = commandsIn(t)
  const path = program.databasePath
  mkdirSync(dirname(path))
  const refuse = async (sentence: RegExp) => {
    const before = bytesOf(path)
    for (const [args, stdin = ''] of OTHERS) {
      const { code, stdout, stderr } = await program.run(args, { stdin, env: DASHBOARD })
      assert.deepEqual([code, stdout], [1, ''], `${args}: ${stderr}`)
      assert.match(stderr, sentence, args)
      assert.match(stderr, /^error: [^\n]*`server-listing migrate`[^\n]*\n$/, args)
      assert.deepEqual(bytesOf(path), before, args)
    }
  }
  await refuse(/there is no database file .*listing\.db\. If it is elsewhere, set DATABASE_URL/)
  writeFileSync(path, '')
  await refuse(/listing\.db has no tables yet;/)

  const added = await program.run('user add ada@example.com --create')
  assert.equal(added.code, 0, added.stderr)
  assert.equal((await program.run('user list')).code, 0)
})

/** Null if there is no file. Asserts that there is nothing else in its folder. */
function bytesOf(path: string): Buffer | null {
  const names = readdirSync(join(path, '..'))
  assert.ok(
    names.every((name) => name === 'listing.db'),
    String(names),
  )
  return names.length === 0 ? null : readFileSync(path)
}

test('an existing directory keeps its mode', async (t) => {
  const program = commandsIn(t)
  const folder = dirname(program.databasePath)
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  await program.done('migrate')
  assert.equal(modeOf(folder), '755')
  assert.equal(modeOf(program.databasePath), '600')
})

test('migrate prints what it applied, and does nothing the second time', async (t) => {
  const program = commandsIn(t)
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

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
