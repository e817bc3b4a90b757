import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsIn } from '../../cli/command.ts'

const ID = ['--external-id', 'Player 1']

test('a list of servers with external ids can be imported again', async (t) => {
  const program = commandsIn(t)
  await program.done(['user', 'add', ...ID, '--create'])
  const stdin = JSON.stringify([{ name: 'a', address: 'a.example', slug: 'a' }])
  await program.done(['server', 'import', ...ID, '-'], { stdin })
  const listed = await program.done('server list --json')
  const again = await program.run(['server', 'import', ...ID, '-'], { stdin: listed })
  assert.match(again.stderr, /ignores "created_by", "external_id"/)
  assert.match(again.stderr, /0 new, 0 changed, 1 unchanged/)
})
