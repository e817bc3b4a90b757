import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Program, programIn } from '../program.ts'
import { NAMES, STATE } from './files.ts'

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

async function exportState({ done }: Program): Promise<Exported> {
  return JSON.parse(await done('export')) as Exported
}

test('a killed apply leaves whole users, and a second run finishes', async (t) => {
  for (const commit of [1, 2, 4])
    for (const when of ['before', 'after'] as const) {
      const program = programIn(t)
      await program.done('migrate')
      // Reading the plan is the first commit.
      const preload = killAt(commit + 1, when)
      const killed = await program.begin('apply - --yes', { preload, stdin: STATE }).ended
      assert.equal(killed.signal, 'SIGKILL', killed.stderr)
      const { organizations, users } = await exportState(program)
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
      const again = await program.run('apply - --yes', { stdin: STATE })
      assert.equal(again.code, 0, again.stderr)
      assert.match((await program.run('apply - --prune', { stdin: STATE })).stderr, /\n0 changes\n/)
    }
})

test('two processes apply one file at once, and a later run has nothing left to do', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  const apply = () => program.begin('apply - --yes', { stdin: STATE }).ended
  for (const { code, stderr } of await Promise.all([apply(), apply()]))
    if (code !== 0) assert.match(stderr, /Run the same command again to finish\n$/)
  assert.equal((await apply()).code, 0)
  const { stderr } = await program.run('apply - --prune', { stdin: STATE })
  assert.match(stderr, /\n0 changes\n/)
  assert.equal((await exportState(program)).users.length, NAMES.length)
})
