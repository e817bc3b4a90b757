import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Commands, commandsIn } from '../../cli/command.ts'

const IMPORT = 'server import --user ada@example.com'
const entries = (...names: string[]) =>
  JSON.stringify(names.map((name) => ({ name, address: `${name}.example.com` })))

test('--prune refuses an answer of the API that may lack servers', async (t) => {
  const program = await fill(t)
  const many = Array.from({ length: 100 }, (_, n) => `s${n}`)
  for (const mode of ['--prune --yes', '--prune-all --yes', '--prune --dry-run']) {
    const refused = await program.run(`${IMPORT} ${mode} -`, {
      stdin: `{"servers":${entries(...many)}}`,
    })
    assert.equal(refused.code, 2)
    assert.match(
      refused.stderr,
      /nothing was changed: standard input is an answer of the API with 100 servers, .* --json/,
    )
  }
  assert.deepEqual(await names(program), ['a', 'b'])
  for (const stdin of [entries(...many), `{"servers":${entries(...many.slice(1))}}`])
    await program.done(`${IMPORT} --prune-all --yes -`, { stdin })
  assert.equal((await names(program)).length, 99)
})

/** Ada with the servers a and b. */
async function fill(t: TestContext): Promise<Commands> {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  await program.done(`${IMPORT} -`, { stdin: entries('a', 'b') })
  return program
}

async function names(program: Commands): Promise<string[]> {
  const listed = JSON.parse(await program.done('server list --user ada@example.com --json'))
  return listed.map(({ name }: { name: string }) => name).toSorted()
}
