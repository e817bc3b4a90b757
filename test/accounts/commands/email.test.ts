import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAdaWithKey } from '../../cli/ada.ts'
import { assertRefused, commandsIn } from '../../cli/command.ts'

test('user email changes the address, and the keys stay', async (t) => {
  const program = commandsIn(t)
  const { id } = await addAdaWithKey(program)
  const changed = await program.run('user email ada@example.com Countess@Example.com --json')
  assert.equal(changed.code, 0)
  assert.equal(
    changed.stderr,
    'changed the email address of ada@example.com to countess@example.com; ' +
      `the user's sessions, keys and password stay as they are\n${program.place}`,
  )
  assert.equal(JSON.parse(changed.stdout).email, 'countess@example.com')
  const [key] = JSON.parse(await program.done('key list --user countess@example.com --json'))
  assert.equal(key.id, id)
  assertRefused(await program.run('key list --user ada@example.com'), 1, 'there is no user ada')
  const [entry] = JSON.parse(await program.done('audit list --json'))
  assert.deepEqual([entry.action, entry.subject], ['e-mail changed', 'countess@example.com'])
})

test('user email gives an address to a user who has none', async (t) => {
  const program = commandsIn(t)
  await program.done('user add --external-id 4711 --create')
  await program.done('user email --external-id 4711 ada@example.com')
  const [user] = JSON.parse(await program.done('user list --json'))
  assert.deepEqual([user.email, user.external_id], ['ada@example.com', '4711'])
})

test('an address that is taken or invalid changes nothing', async (t) => {
  const program = commandsIn(t)
  await addAdaWithKey(program)
  await program.done('user add bob@example.com')
  const taken = await program.run('user email ada@example.com bob@example.com')
  assertRefused(taken, 1, 'of ada@example.com was not changed: another user has bob@example.com')
  for (const address of ['ada', '\u0430da@example.com', ''])
    assertRefused(await program.run(['user', 'email', 'ada@example.com', address]), 2, 'an email')
  const unknown = await program.run('user email eve@example.com new@example.com')
  assertRefused(unknown, 1, 'there is no user eve@example.com')
  const entries: { action: string }[] = JSON.parse(await program.done('audit list --json'))
  assert.deepEqual(
    entries.filter(({ action }) => action === 'e-mail changed'),
    [],
  )
})
