import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addAda } from '../../cli/ada.ts'
import { type Commands, commandsIn } from '../../cli/command.ts'

const IMPORT = 'server import --user ada@example.com'

test('ten mistakes are listed and the rest counted', async (t) => {
  const program = await withAda(t)
  const stdin = JSON.stringify(Array.from({ length: 51 }, () => ({ name: 'a' })))
  const { stderr } = await program.run(`${IMPORT} -`, { stdin })
  assert.match(stderr, /entry 10: "address" is missing\n {2}and 41 more\n/)
})

test("the output of server list is imported for another user, without the organization's servers", async (t) => {
  const program = await withAda(t)
  await program.run('user add bob@example.com')
  await program.run(`${IMPORT} -`, { stdin: '[{"name":"a","address":"a.example"}]' })
  await program.run(`${IMPORT} --organization guild -`, {
    stdin: '[{"name":"ours","address":"a.example"}]',
  })
  const listed = (await program.run('server list --user ada@example.com --json')).stdout
  const moved = await program.run('server import --user bob@example.com -', { stdin: listed })
  assert.match(
    moved.stderr,
    /^standard input: the import ignores "created_by", "email" and leaves out 1 server under/,
  )
  assert.match(moved.stderr, /imported 1 server for bob@example\.com: 1 new/)
  const removed = await program.run('user remove ada@example.com --yes')
  assert.match(removed.stderr, /with 0 active keys, 2 servers and 1 organi/)
})

async function withAda(t: TestContext): Promise<Commands> {
  const program = commandsIn(t)
  await addAda(program)
  return program
}
