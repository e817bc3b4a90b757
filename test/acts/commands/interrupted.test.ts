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
  put_organizations: object[]
  put_members: { external_id: string; role: string }[]
  put_users: { external_id: string }[]
  put_keys: { external_id: string }[]
  put_servers: { external_id: string }[]
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
    const { put_users, put_organizations, put_members, put_keys, put_servers } = found
    assert.equal(put_users.length === 0, isEmpty, `${when} ${change}`)
    assert.ok(put_users.length < users)
    assert.equal(put_organizations.length, isEmpty ? 0 : 1)
    assert.equal(
      put_members.some(({ role }) => role === 'owner'),
      !isEmpty,
    )
    const rows = [put_members, put_keys, put_servers].map((list) =>
      Map.groupBy(list as { external_id: string }[], ({ external_id }) => external_id),
    )
    for (const { external_id: id } of put_users)
      assert.deepEqual(
        rows.map((of) => of.get(id)?.length),
        [1, 1, 2],
        id,
      )
    const again = await program.run('apply - --yes', { stdin: state })
    assert.equal(again.code, 0, again.stderr)
    assert.match((await program.run('apply -', { stdin: state })).stderr, /\n0 changes\n/)
  }
})

test('two processes apply one file at once, and a later run has nothing left to do', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  const apply = () => program.begin('apply - --yes', { stdin: STATE }).ended
  for (const { code, stderr } of await Promise.all([apply(), apply()]))
    if (code !== 0) assert.match(stderr, /Run the same command again to finish\n$/)
  assert.equal((await apply()).code, 0)
  const { stderr } = await program.run('apply -', { stdin: STATE })
  assert.match(stderr, /\n0 changes\n/)
  assert.equal((await exportState(program)).put_users.length, NAMES.length)
})
