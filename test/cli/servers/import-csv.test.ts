import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addAda } from '../ada.ts'
import { assertRefused, type Commands, commandsIn } from '../command.ts'

const IMPORT = 'server import --user ada@example.com'

test('ten mistakes are listed and the rest counted', async (t) => {
  const program = await withAda(t)
  const stdin = JSON.stringify(Array.from({ length: 51 }, () => ({ name: 'a' })))
  const { stderr } = await program.run(`${IMPORT} -`, { stdin })
  assert.match(stderr, /entry 10: "address" is missing\n {2}and 41 more\n/)
})

test('a CSV file is imported by the names of its columns', async (t) => {
  const program = await withAda(t)
  const stdin = '\uFEFFName;address;version\r\n"A;B";a.example.com;1.21\r\n'
  const { stderr } = await program.run(`${IMPORT} -`, { stdin })
  assert.match(stderr, /imported 1 server for ada@example.com: 1 new/)
  const [server] = JSON.parse(await program.done('server list --user ada@example.com --json'))
  assert.deepEqual([server.name, server.version], ['A;B', '1.21'])
  const wrong = await program.run(`${IMPORT} -`, { stdin: 'name,address\na,a\nb,b c\n' })
  assertRefused(wrong, 1, /row 3: "address" must be a domain.*"b c"/)
})

async function withAda(t: TestContext): Promise<Commands> {
  const program = commandsIn(t)
  await addAda(program)
  return program
}
