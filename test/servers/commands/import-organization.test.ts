import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../../fixtures/requests.ts'
import { addAda } from '../../cli/ada.ts'
import { programIn } from '../../cli/program.ts'

const IMPORT = 'server import --user ada@example.com'

test('servers imported under an organization are listed, and the API never returns them', async (t) => {
  const program = programIn(t)
  await addAda(program)
  const entries = '[{"name":"Ours","address":"play.example.com"}]'
  const { stderr } = await program.run(`${IMPORT} --organization red-stone -`, { stdin: entries })
  assert.match(stderr, /imported 1 server for ada@example.com under red-stone: 1 new/)
  const [ours] = JSON.parse(await program.done('server list --user ada@example.com --json'))
  assert.equal(ours.organization, 'red-stone')
  // A personal server with the same address is another server, and a second import finds both.
  await program.run(`${IMPORT} -`, { stdin: entries.replace('Ours', 'Mine') })
  const again = await program.run(`${IMPORT} --organization red-stone -`, { stdin: entries })
  assert.match(again.stderr, /0 new, 0 changed, 1 unchanged/)

  const key = await program.done('key issue --user ada@example.com --name bot')
  const { port } = await program.serve()
  const { servers } = JSON.parse((await ask(port, { key })).body)
  assert.deepEqual(
    servers.map((server: { name: string }) => server.name),
    ['Mine'],
  )
})
