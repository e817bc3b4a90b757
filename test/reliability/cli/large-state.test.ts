import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programIn } from '../../cli/program.ts'

/** As many as test/postgres/plans/acts.test.ts gives a function. */
const USERS = 100_000

test('apply takes 100,000 rows, and names a mistake in the last one', async (t) => {
  const { run, done } = programIn(t)
  const users: object[] = Array.from({ length: USERS }, (_, n) => ({ external_id: `${n}` }))
  const apply = (put_users: object[]) =>
    run('apply - --yes', { stdin: JSON.stringify({ format_version: 2, put_users }) })
  await done('migrate')
  const refused = await apply([...users.slice(1), { external_id: 1 }])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /nothing was changed: .*\n {2}put_users\[99999\]\.external_id: must/)
  assert.match((await apply(users)).stderr, /\n100,000 added, 0 changed, 0 removed or revoked\n/)
  assert.match((await apply(users)).stderr, /\n0 changes\n/)
})
