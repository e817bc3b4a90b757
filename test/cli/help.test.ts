import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { NAMED_SETTINGS } from '../../src/settings.ts'
import { assertRefused, commandsIn } from './command.ts'
import { everyCommand } from './every-command.ts'

test('every command prints its --help with examples to standard output', async (t) => {
  const program = commandsIn(t)
  await Promise.all(
    ['', ...(await everyCommand())].map(async (command) => {
      const { code, stdout, stderr } = await program.run(`${command} --help`)
      assert.equal(code, 0)
      assert.equal(stderr, '')
      assert.match(stdout, new RegExp(`^Usage: server-listing ${command}`))
      const examples = stdout.split(/\nExamples?:\n/)[1] ?? ''
      assert.match(examples, new RegExp(`^  .*server-listing ${command}`), command)
    }),
  )
})

test('help followed by a command prints its help', async (t) => {
  const program = commandsIn(t)
  for (const [args, usage] of [
    ['help', '[options] [command]'],
    ['help key', 'key [options] [command]'],
    ['key help list', 'key list [options]'],
    ['user list surplus --wrong -h', 'user list [options]'],
  ] as const)
    assert.equal((await program.done(args)).split('\n')[0], `Usage: server-listing ${usage}`)
})

test('an option takes its value in either form, and -- ends the options', async (t) => {
  const program = commandsIn(t)
  const id = await program.done('user add --create -- ada@example.com')
  for (const args of [
    ['--user', 'ada@example.com', '--name', '--bot'],
    ['--user=ada@example.com', '--name=a=b'],
  ])
    await program.done(['key', 'issue', ...args])
  const listed = JSON.parse(await program.done('key list --json --json --user=ada@example.com'))
  assert.deepEqual(listed.map(({ name }: { name: string }) => name).toSorted(), ['--bot', 'a=b'])
  assert.equal(listed[0].user_id, id)
  assertRefused(await program.run('key list --user'), 2, "'--user <email>' argument missing")
  assertRefused(await program.run('key list --json=yes'), 2, "unknown option '--json=yes'")
  assertRefused(
    await program.run('key list -- --user'),
    2,
    'Expected 0 arguments but got 1: --user',
  )
})

test("the program's help names its environment variables and exit codes", async (t) => {
  const help = await commandsIn(t).done('--help')
  for (const [name, { default: value }] of NAMED_SETTINGS) {
    const [, text = ''] = new RegExp(`\\n  ${name} +([^]*?)\\n(?:  \\w|\\n)`).exec(help) ?? []
    assert.match(text, /\w/, name)
    assert.ok(text.includes(value === null ? '' : `(default: ${value}`), text)
  }
  assert.doesNotMatch(help, /`|\]\(/)
  assert.match(help, /Exit codes: 0 success, 1 failure, 2 wrong command line or environment/)
})

test('a group without a command prints its help to standard error and exits with 2', async (t) => {
  const program = commandsIn(t)
  for (const group of ['', 'user', 'key', 'server']) {
    const { code, stdout, stderr } = await program.run(group)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^Usage: server-listing/)
  }
})

test('a typo is answered with the intended word', async (t) => {
  const program = commandsIn(t)
  const mistyped = [
    ['usr', 'user'],
    ['serv', 'serve'],
    ['keys list', 'key'],
    ['user ad ada@example.com', 'add'],
    ['key revok', 'revoke'],
    ['restore --revocation a.db', '--revocations'],
    ['server improt servers.json', 'import'],
    ['user list --jsn', '--json'],
    ['server list --usr ada@example.com', '--user'],
    ['key issue --user ada@example.com --nmae bot', '--name'],
  ] as const
  await Promise.all(
    mistyped.map(async ([args, meant]) =>
      assertRefused(await program.run(args), 2, `Did you mean ${meant}?`, '--help'),
    ),
  )
})

test('the error names a missing option and an extra argument', async (t) => {
  const program = commandsIn(t)
  assertRefused(await program.run('user add'), 2, '<email> or --external-id <id> is mis', '--help')
  assertRefused(await program.run('user add a@b c@d'), 2, 'a@b, c@d')
  assertRefused(await program.run('serve now'), 2, 'now')
  assertRefused(await program.run('server import --user a@b'), 2, "'file'")
  for (const command of ['key issue', 'server import -'])
    assertRefused(
      await program.run(command),
      2,
      '--user <email> or --external-id <id> is',
      '--help',
    )
  assertRefused(await program.run('key issue --user a@b'), 2, '--name <name> is missing')
  assertRefused(await program.run('restore'), 2, 'name an archive, or a list', '--help')
})

test('--version prints the version of the package', async (t) => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  assert.equal(await commandsIn(t).done('--version'), JSON.parse(manifest).version)
})
