import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Program, programIn } from '../../cli/program.ts'
import { NAMES, STATE, siteOf } from './files.ts'

/** Kills the process at its change with this number, before or after the commit. */
const killAt = (change: number, when: 'before' | 'after') => `
  import { DatabaseSync } from 'node:sqlite'
  const { exec } = DatabaseSync.prototype
  let changes = 0
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'BEGIN IMMEDIATE' && this.location().endsWith('listing.db')) changes += 1
    const isMeant = sql === 'COMMIT' && changes === ${change}
    if (isMeant && '${when}' === 'before') process.kill(process.pid, 'SIGKILL')
    exec.call(this, sql)
    if (isMeant) process.kill(process.pid, 'SIGKILL')
  }
`

interface Exported {
  organizations: { members: { email: string; role: string }[] }[]
  users: { email: string; keys: unknown[]; servers: unknown[] }[]
}

async function exportState({ done }: Program): Promise<Exported> {
  return JSON.parse(await done('export')) as Exported
}

test('a killed apply leaves whole users, and a second run finishes', async (t) => {
  const users = 450
  const state = siteOf(users)
  for (const [change, when, isEmpty] of [
    [1, 'before', true],
    [1, 'after', false],
    [2, 'before', false],
  ] as const) {
    const program = programIn(t)
    await program.done('migrate')
    const preload = killAt(change, when)
    const killed = await program.begin('apply - --yes', { preload, stdin: state }).ended
    assert.equal(killed.signal, 'SIGKILL')
    const found = await exportState(program)
    assert.equal(found.users.length === 0, isEmpty, `${when} ${change}`)
    assert.ok(found.users.length < users)
    assert.equal(found.organizations.length, isEmpty ? 0 : 1)
    const members = found.organizations.flatMap((one) => one.members)
    assert.equal(
      members.some(({ role }) => role === 'owner'),
      !isEmpty,
    )
    const emails = new Set(members.map(({ email }) => email))
    for (const { email, keys, servers } of found.users)
      assert.deepEqual([keys.length, servers.length, emails.has(email)], [1, 2, true], email)
    const again = await program.run('apply - --yes', { stdin: state })
    assert.equal(again.code, 0, again.stderr)
    assert.match((await program.run('apply - --prune', { stdin: state })).stderr, /\n0 changes\n/)
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
