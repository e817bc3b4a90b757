import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { documentOf } from '../../fixtures/document.ts'
import { OWNED_SERVERS_MAX } from '../../../src/servers/server.ts'
import { type Commands, commandsIn } from '../../cli/command.ts'

test('key list finds keys that no program has used since they were issued', async (t) => {
  const program = await fill(t)
  const { names } = listsOf(program)
  const database = new DatabaseSync(program.databasePath)
  database.exec(`UPDATE api_keys SET created_at = created_at - 7200000000 WHERE name = 'old'`)
  database.close()
  assert.deepEqual(await names('--unused-for 1h'), ['old ada@example.com'])
  assert.deepEqual(await names('--unused-for 1h --user bob@example.com'), [])
  assert.deepEqual(await names('--unused-for 1d'), [])
})

test('server list names the owner of each server of all users, and --user lists those of one', async (t) => {
  const program = await fill(t)
  const { json } = listsOf(program)
  const stdin = '[{"name":"b","address":"b.example"}]'
  await program.done('server import --user bob@example.com -', { stdin })
  const listed = await json('server list')
  const byName = new Map<string, Row>(listed.map((one: Row) => [one.name, one]))
  assert.deepEqual([...byName.keys()].toSorted(), ['a', 'b'])
  const [ofAda] = await json('server list --user ada@example.com')
  assert.deepEqual(byName.get('a'), ofAda)
  assert.deepEqual([ofAda.email, ofAda.organization], ['ada@example.com', 'red-stone'])
  const [user] = (await json('user list')).filter(({ email }: Row) => email === ofAda.email)
  assert.equal(ofAda.created_by, user.id)
  const table = (await program.run('server list')).stdout
  assert.match(table, /^ID +USER +NAME +ADDRESS +EDITION +STATUS +ORGANIZATION +UPDATED\n/)
  assert.match(table, /\n\S+ +bob@example\.com +b +b\.example +java +published +- +\S+Z\n/)
  assert.doesNotMatch(await program.done('server list --user ada@example.com'), /USER|bob/)
})

test('server list of all users prints the same JSON in parts as at once', async (t) => {
  const program = await fill(t)
  assert.equal((await program.run('server list --user bob@example.com --json')).stdout, '[]\n')
  const entries = Array.from({ length: OWNED_SERVERS_MAX + 1 }, (_, index) => ({
    name: `n${index}`,
    address: `${index}.example`,
  }))
  const users = [{ email: 'bob@example.com', servers: entries }]
  await program.done('apply - --yes', { stdin: JSON.stringify(documentOf({ users })) })
  const { stdout } = await program.run('server list --json')
  const listed: Row[] = JSON.parse(stdout)
  assert.equal(stdout, `${JSON.stringify(listed, null, 2)}\n`)
  assert.equal(new Set(listed.map(({ id }) => id)).size, OWNED_SERVERS_MAX + 2)
  const lines = (await program.run('server list')).stdout.split('\n')
  assert.equal(lines.filter((line) => line.startsWith('ID ')).length, 1)
  assert.equal(lines.length, OWNED_SERVERS_MAX + 4)
})

type Row = Record<string, string>

/** Ada with a key and an organization, and Bob with a key. */
async function fill(t: TestContext): Promise<Commands> {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  await program.done('user add bob@example.com')
  await program.done('key issue --user ada@example.com --name old')
  await program.done('key issue --user bob@example.com --name new')
  const stdin = '[{"name":"a","address":"a.example"}]'
  await program.done('server import --user ada@example.com --organization red-stone -', { stdin })
  return program
}

function listsOf(program: Commands) {
  const json = async (args: string) => JSON.parse(await program.done(`${args} --json`))
  return {
    json,
    names: async (args: string) =>
      (await json(`key list ${args}`)).map(({ name, email }: Row) => `${name} ${email}`),
  }
}
