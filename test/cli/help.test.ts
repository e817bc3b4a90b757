import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertRefused, programIn } from './program.ts'

const COMMANDS = [
  '',
  'serve',
  'migrate',
  'copy',
  'user',
  'user add',
  'user list',
  'user remove',
  'key',
  'key issue',
  'key list',
  'key revoke',
  'server',
  'server import',
  'server list',
]

test('every command has a --help on standard output, with examples of itself', async (t) => {
  const program = programIn(t)
  await Promise.all(
    COMMANDS.map(async (command) => {
      const { code, stdout, stderr } = await program.run(`${command} --help`)
      assert.equal(code, 0)
      assert.equal(stderr, '')
      assert.match(stdout, new RegExp(`^Usage: server-listing ${command}`))
      const examples = stdout.split(/\nExamples?:\n/)[1] ?? ''
      assert.match(examples, new RegExp(`^  .*server-listing ${command}`), command)
    }),
  )
})

test('the help of the program names the environment and the exit codes', async (t) => {
  const help = await programIn(t).done('--help')
  for (const variable of ['DATABASE_URL', 'HOST', 'PORT', 'BASE_URL', 'LOG_LEVEL'])
    assert.ok(help.includes(variable), variable)
  assert.match(help, /Exit codes: 0 done, 1 failed, 2 misused/)
})

test('a group without a command shows its help on standard error and is misuse', async (t) => {
  const program = programIn(t)
  for (const group of ['', 'user', 'key', 'server']) {
    const { code, stdout, stderr } = await program.run(group)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^Usage: server-listing/)
  }
})

test('a mistyped word is answered by the one that was meant', async (t) => {
  const program = programIn(t)
  const mistyped = [
    ['usr', 'user'],
    ['serv', 'serve'],
    ['keys list', 'key'],
    ['user ad ada@example.com', 'add'],
    ['key revok', 'revoke'],
    ['copy --form sqlite:a.db', '--from'],
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

test('what is missing and what is too much is named', async (t) => {
  const program = programIn(t)
  assertRefused(await program.run('user add'), 2, "'email'", '--help')
  assertRefused(await program.run('user add a@b c@d'), 2, 'a@b, c@d')
  assertRefused(await program.run('serve now'), 2, 'now')
  assertRefused(await program.run('server import --user a@b'), 2, "'file'")
  for (const command of ['key issue', 'key list', 'server list', 'server import -'])
    assertRefused(await program.run(command), 2, '--user <email> is missing', '--help')
  assertRefused(await program.run('key issue --user a@b'), 2, '--name <name> is missing')
  assertRefused(await program.run('copy'), 2, '--from sqlite:<path> is missing', '--help')
})

test('--version is that of the package', async (t) => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  assert.equal(await programIn(t).done('--version'), JSON.parse(manifest).version)
})

test('a Node.js that is too old says so in one sentence', async (t) => {
  const program = programIn(t)
  for (const version of ['20.20.2', '24.15.9']) {
    const preload = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
    const { code, stdout, stderr } = await program.run('serve', { preload })
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.equal(
      stderr,
      `server-listing needs Node.js 24.16 or newer; this is Node.js ${version}.\n`,
    )
  }
})
