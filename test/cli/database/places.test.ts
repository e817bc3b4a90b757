import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Commands, commandsIn } from '../command.ts'

/** Where a link leads. */
const DASHBOARD = { DASHBOARD_URL: 'https://listing.example.com' }

test('the last line of every command that writes names the database', async (t) => {
  const program = commandsIn(t)
  const key = await issue(program)
  const id = JSON.parse(await program.done('key list --user ada@example.com --json'))[0].id
  const entries = '[{"name":"a","address":"a.example"}]'
  for (const [args, stdin = ''] of [
    ['migrate'],
    ['user add bob@example.com'],
    ['user password ada@example.com', 'correct horse battery'],
    ['user link ada@example.com'],
    ['key issue --user ada@example.com --name second'],
    [`key revoke --user ada@example.com ${id}`],
    ['key revoke --key-stdin', key],
    ['server import --user ada@example.com -', entries],
    ['user remove ada@example.com --yes'],
  ] as const) {
    const { code, stderr } = await program.run(args, { stdin, env: DASHBOARD })
    assert.equal(code, 0, `${args}: ${stderr}`)
    assert.ok(stderr.endsWith(`\n${program.place}`), `${args}: ${stderr}`)
    assert.equal(stderr.split('database: ').length, 2, stderr)
  }
})

test('a command that reads or changes nothing names no changed database', async (t) => {
  const program = commandsIn(t)
  await issue(program)
  assert.equal((await program.run('user list')).stderr, '')
  for (const args of ['user remove eve@example.com --yes', 'key list --user eve@example.com']) {
    const { code, stderr } = await program.run(args)
    assert.equal(code, 1)
    assert.doesNotMatch(stderr, /database: /)
    // The wrong database is the usual reason why a user is missing.
    assert.match(stderr, /there is no (such )?user .*in .*listing\.db\. /)
  }
})

/** Creates the database with ada@example.com, and returns a key of hers. */
async function issue(program: Commands): Promise<string> {
  await program.done('user add ada@example.com --create')
  return program.done('key issue --user ada@example.com --name bot')
}
