import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { presentInstant, formatInstant } from '../../../src/listing/instant.ts'
import { runHere, setDatabase } from '../here.ts'
import { programIn } from '../program.ts'
import { empty, hashOf } from './files.ts'

const NAMES = ['ada', 'bob', 'cid']

/** An organization and users with a key and a server each: one transaction for each of them. */
const STATE = JSON.stringify({
  format_version: 1,
  organizations: [
    {
      slug: 'red',
      name: 'Red',
      members: NAMES.map((name) => {
        return { email: `${name}@example.com`, role: name === 'cid' ? 'owner' : 'member' }
      }),
    },
  ],
  users: NAMES.map((name) => ({
    email: `${name}@example.com`,
    keys: [{ name, key_hash: hashOf(name) }],
    servers: [{ name, slug: name, address: `${name}.example.com`, organization: 'red' }],
  })),
})

/** Kills the process at its commit with this number, before or after it. */
const killAt = (commit: number, when: 'before' | 'after') => `
  import { DatabaseSync } from 'node:sqlite'
  const { exec } = DatabaseSync.prototype
  let commits = 0
  DatabaseSync.prototype.exec = function (sql) {
    if (sql !== 'COMMIT') return exec.call(this, sql)
    commits += 1
    if (commits === ${commit} && '${when}' === 'before') process.kill(process.pid, 'SIGKILL')
    exec.call(this, sql)
    if (commits === ${commit}) process.kill(process.pid, 'SIGKILL')
  }
`

interface Exported {
  organizations: { members: { role: string }[] }[]
  users: { keys: unknown[]; servers: unknown[] }[]
}

async function exportState(): Promise<Exported> {
  return JSON.parse((await runHere('export')).stdout) as Exported
}

test('a killed apply leaves whole users, and a second run finishes', async (t) => {
  for (const commit of [1, 2, 4])
    for (const when of ['before', 'after'] as const) {
      const program = programIn(t)
      setDatabase(t, `sqlite:${program.databasePath}`)
      await runHere('migrate')
      // Reading the plan is the first commit.
      const preload = killAt(commit + 1, when)
      const killed = await program.run('apply - --yes', { preload, stdin: STATE })
      assert.equal(killed.signal, 'SIGKILL', killed.stderr)
      const { organizations, users } = await exportState()
      const label = `${when} ${commit}`
      // The first transaction is that of the organization.
      const done = Math.max(0, commit - (when === 'before' ? 2 : 1))
      assert.equal(organizations.length, when === 'before' && commit === 1 ? 0 : 1, label)
      for (const { members } of organizations)
        assert.ok(
          members.some(({ role }) => role === 'owner'),
          label,
        )
      assert.deepEqual(
        users.map(({ keys, servers }) => [keys.length, servers.length]),
        organizations.length === 0 ? [] : NAMES.map((_, index) => (index < done ? [1, 1] : [0, 0])),
        label,
      )
      const again = await runHere('apply - --yes', STATE)
      assert.equal(again.code, 0, again.stderr)
      assert.match((await runHere('apply - --prune', STATE)).stderr, /\n0 changes\n/)
    }
})

test('a failure in the middle says how far it came, and a second run finishes', async (t) => {
  const { folder } = await empty(t)
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(join(folder, 'listing.db'))
  database.exec(`CREATE TRIGGER away BEFORE INSERT ON servers WHEN NEW.name = 'bob'
    BEGIN SELECT RAISE(ABORT, 'it is away'); END`)
  const failed = await runHere('apply - --yes', STATE)
  assert.equal(failed.code, 1)
  assert.match(
    failed.stderr,
    /error: bob@example\.com was not changed: it is away\. Done before that: 2 of 4 users and organizations\. Run the same command again to finish\n$/,
  )
  database.exec('DROP TRIGGER away')
  database.close()
  assert.equal((await runHere('apply - --yes', STATE)).code, 0)
  assert.match((await runHere('apply - --prune', STATE)).stderr, /\n0 changes\n/)
})

test('two processes apply one file at once, and a later run has nothing left to do', async (t) => {
  const program = programIn(t)
  setDatabase(t, `sqlite:${program.databasePath}`)
  await runHere('migrate')
  const apply = () => program.run('apply - --yes', { stdin: STATE })
  for (const { code, stderr } of await Promise.all([apply(), apply()]))
    if (code !== 0) assert.match(stderr, /Run the same command again to finish\n$/)
  assert.equal((await apply()).code, 0)
  const { stderr } = await runHere('apply - --prune', STATE)
  assert.match(stderr, /\n0 changes\n/)
  assert.equal((await exportState()).users.length, NAMES.length)
})

/** A key with this last use. */
const stateWith = (last_used_at: string) =>
  JSON.stringify({
    format_version: 1,
    users: [
      { email: 'ada@example.com', keys: [{ name: 'a', key_hash: hashOf('a'), last_used_at }] },
    ],
  })

test('a last use within the last second is waited for, and one in the future is refused', async (t) => {
  await empty(t)
  const refused = await runHere(
    'apply - --yes',
    stateWith(formatInstant(presentInstant() + 60_000_000)),
  )
  assert.match(refused.stderr, /users\[0\]\.keys\[0\]\.last_used_at: lies in the future/)
  const usedAt = presentInstant()
  const applied = await runHere('apply - --yes', stateWith(formatInstant(usedAt)))
  assert.equal(applied.code, 0, applied.stderr)
  const [key] = JSON.parse((await runHere('export')).stdout).users[0].keys
  assert.equal(key.last_used_at, formatInstant(usedAt))
  assert.ok(presentInstant() - usedAt >= 1_000_000)
})
