import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { addAdaWithKey } from '../../cli/ada.ts'
import { commandsIn } from '../../cli/command.ts'

const ADA = 'ada@example.com'

test('user disable and user enable change the state once, and the audit log has both', async (t) => {
  const program = commandsIn(t)
  const { id } = await addAdaWithKey(program)
  const disabled = await program.run(`user disable Ada@Example.com`)
  assert.deepEqual([disabled.code, disabled.stdout], [0, ''])
  assert.equal(
    disabled.stderr,
    `disabled ${ADA} with 1 active key. The user's keys now get a 401, and every session and ` +
      `sign-in link has ended\n${program.place}`,
  )
  const again = await program.run(`user disable ${ADA} --json`)
  assert.match(again.stderr, /^ada@example\.com was already disabled at \d{4}-\S+Z\n/)
  const [user] = JSON.parse(await program.done('user list --json'))
  assert.match(user.disabled_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  assert.equal(JSON.parse(again.stdout).disabled_at, user.disabled_at)
  assert.match(await program.done('user list'), /ada@example\.com +- +\S+Z +\d{4}-\S+Z +no +1/)
  assert.match(await program.done('key list'), /disabled \d{4}-\S+Z$/)
  const [key] = JSON.parse(await program.done('key list --json'))
  assert.deepEqual([key.revoked_at, key.disabled_at], [null, user.disabled_at])

  const enabled = await program.run(`user enable ${ADA} --json`)
  assert.equal(JSON.parse(enabled.stdout).disabled_at, null)
  assert.match(enabled.stderr, /^enabled ada@example\.com: the user's keys work again/)
  assert.match((await program.run(`user enable ${ADA}`)).stderr, /^ada@example\.com was not disa/)
  assert.match(await program.done('key list'), new RegExp(`${id} .* active$`))
  const entries = JSON.parse(await program.done('audit list --json'))
  assert.deepEqual(
    entries.map((entry: Record<string, unknown>) => [entry.action, entry.subject, entry.email]),
    [
      ['user enabled', ADA, ADA],
      ['user disabled', ADA, ADA],
      ['key issued', id, ADA],
      ['user added', ADA, ADA],
    ],
  )
})

test('a disabled user gets no link, and a message says so of a new key', async (t) => {
  const program = commandsIn(t)
  await addAdaWithKey(program)
  await program.done(`user disable ${ADA}`)
  const link = await program.run(`user link ${ADA}`, { env: { DASHBOARD_PORT: '' } })
  assert.deepEqual([link.code, link.stdout], [1, ''])
  assert.match(
    link.stderr,
    /^error: no link was made: ada@example\.com has been disabled .*`server-listing user enable` changes that\n$/,
  )
  const issued = await program.run(['key', 'issue', '--user', ADA, '--name', 'new'])
  assert.match(issued.stderr, /It gets a 401 until `server-listing user enable`\n/)
})

test('disabling a user revokes nothing', async (t) => {
  const program = commandsIn(t)
  await addAdaWithKey(program)
  await program.done(`user disable ${ADA}`)
  const database = new DatabaseSync(program.databasePath)
  t.after(() => database.close())
  const counted = database.prepare('SELECT count(*) AS n FROM revoked_hashes').get()
  assert.equal(counted?.n, 0)
})
