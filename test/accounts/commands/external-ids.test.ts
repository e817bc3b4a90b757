import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, commandsIn } from '../../cli/command.ts'

const ID = ['--external-id', 'Player 1']

test('user add takes an external id alone or beside an address, once', async (t) => {
  const program = commandsIn(t)
  await program.done(['user', 'add', ...ID, '--create'])
  const both = JSON.parse(await program.done('user add ada@example.com --external-id 2 --json'))
  assert.deepEqual([both.email, both.external_id, both.disabled_at], ['ada@example.com', '2', null])
  const taken = await program.run(['user', 'add', 'bob@example.com', ...ID])
  assertRefused(taken, 1, 'cannot add bob@example.com: a user with this external id "Player 1" al')
  const email = await program.run('user add ada@example.com --external-id 3')
  assertRefused(email, 1, 'cannot add ada@example.com: a user with this email address already')
  const users = JSON.parse(await program.done('user list --json'))
  assert.deepEqual(
    users.map((user: Record<string, unknown>) => [user.email, user.external_id]),
    [
      [null, 'Player 1'],
      ['ada@example.com', '2'],
    ],
  )
  assert.match(await program.done('user list'), /\n\S+ +- +Player 1 +\d{4}-/)
})

test('every command that takes an address takes an external id, and names the user by it', async (t) => {
  const program = commandsIn(t)
  const id = await program.done(['user', 'add', ...ID, '--create'])
  const json = async (...args: string[]) => JSON.parse(await program.done([...args, '--json']))
  const servers = [{ name: 'a', address: 'a.example' }]
  const imported = await program.run(['server', 'import', ...ID, '-'], {
    stdin: JSON.stringify(servers),
  })
  assert.match(imported.stderr, /^imported 1 server for Player 1: /)
  const issued = await program.run(['key', 'issue', ...ID, '--name', 'bot'])
  assert.match(issued.stderr, / to Player 1; save the key now/)
  const [key] = await json('key', 'list', ...ID)
  const [server] = await json('server', 'list', ...ID)
  const [entry] = await json('audit', 'list', ...ID)
  for (const record of [key, server, entry])
    assert.deepEqual([record.email, record.external_id], [null, 'Player 1'])
  assert.deepEqual(await json('server', 'list'), [server])
  for (const list of ['key list', 'server list', 'audit list'])
    assert.match(await program.done(list), / Player 1 /)
  const revoked = await json('key', 'revoke', ...ID, key.id)
  assert.equal(revoked[0].id, key.id)
  const removed = await program.run(['server', 'remove', ...ID, server.id, '--yes'])
  assert.match(removed.stderr, /^removed 1 server of Player 1\n/)
  for (const command of ['disable', 'enable'])
    assert.match((await program.run(['user', command, ...ID])).stderr, /^\w+abled Player 1/)
  for (const [command, reason] of [
    ['password', 'has no email address to sign in with'],
    ['link', 'has no email address'],
  ] as const) {
    const options = { stdin: 'correct horse battery', env: { DASHBOARD_PORT: '' } }
    assertRefused(await program.run(['user', command, ...ID], options), 1, reason, 'user email')
  }
  const gone = await json('user', 'remove', ...ID, '--yes')
  assert.deepEqual([gone.id, gone.external_id], [id, 'Player 1'])
})

test('a list of servers with external ids can be imported again', async (t) => {
  const program = commandsIn(t)
  await program.done(['user', 'add', ...ID, '--create'])
  const stdin = JSON.stringify([{ name: 'a', address: 'a.example', slug: 'a' }])
  await program.done(['server', 'import', ...ID, '-'], { stdin })
  const listed = await program.done('server list --json')
  const again = await program.run(['server', 'import', ...ID, '-'], { stdin: listed })
  assert.match(again.stderr, /ignores "id", "created_by", "external_id"/)
  assert.match(again.stderr, /0 new, 0 changed, 1 unchanged/)
})
