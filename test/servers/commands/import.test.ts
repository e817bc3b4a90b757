import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentOf } from '../../fixtures/document.ts'
import { addAda } from '../../cli/ada.ts'
import { assertRefused, commandsIn } from '../../cli/command.ts'

const IMPORT = 'server import --user ada@example.com'

test('a value that is nested thousands deep is refused in a line', async (t) => {
  const program = commandsIn(t)
  await addAda(program)
  const deep = `[{"name":${'['.repeat(5_000)}${']'.repeat(5_000)},"address":"a.example"}]`
  const nested = await program.run(`${IMPORT} -`, { stdin: deep })
  assertRefused(nested, 1, 'entry 1: "name" must be a string: [[[[')
})

test('an import adds no server beyond 500, and still changes those of a user with more', async (t) => {
  const program = commandsIn(t)
  await addAda(program)
  const save = (servers: object[]) => program.run(`${IMPORT} -`, { stdin: JSON.stringify(servers) })
  assertRefused(
    await save(some(501)),
    1,
    'nothing was imported: ada@example.com would have more than 500 servers, the limit. Remove ' +
      'some with `server-listing server remove` or import fewer',
  )
  assert.match((await save(some(500))).stderr, /500 new/)
  assertRefused(await save(some(501)), 1, 'more than 500 servers')
  const users = [{ email: 'ada@example.com', servers: some(501) }]
  await program.done('apply - --yes', { stdin: JSON.stringify(documentOf({ users })) })
  assert.match((await save(some(501, '2'))).stderr, /0 new, 501 changed/)
})

const some = (count: number, version = '1') =>
  Array.from({ length: count }, (_, n) => ({
    name: `${n}`,
    slug: `${n}`,
    address: `s${n}.example.com`,
    version,
  }))
