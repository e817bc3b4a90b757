import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAdaWithKey } from '../../cli/ada.ts'
import { assertRefused, commandsIn } from '../../cli/command.ts'

const REMOVE = 'user remove ada@example.com'
const FOR_GOOD = ', and revoke the keys: no restore brings them back. '
const WOULD = 'remove ada@example.com with 1 active key, 0 servers and 0 organizations from '
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test('user add creates the database and prints only the id to standard output', async (t) => {
  const program = commandsIn(t)
  const { code, stdout, stderr } = await program.run('user add Ada@Example.com --create')
  assert.equal(code, 0)
  assert.match(stdout.trimEnd(), UUID)
  assert.equal(stdout.split('\n').length, 2)
  assert.match(stderr, /^added ada@example\.com; .* id/)
})

test('user list prints a table, or JSON with the names of the columns', async (t) => {
  const program = commandsIn(t)
  const bob = await program.done('user add bob@example.com --create')
  const ada = await program.done('user add Ada@Example.com')

  const [heads, ...rows] = (await program.done('user list')).split('\n')
  assert.match(
    heads ?? '',
    /^ID +EMAIL +EXTERNAL ID +ADDED +DISABLED +CAN SIGN IN +KEYS +SERVERS +LAST SIGN-IN$/,
  )
  assert.equal(rows.length, 2)
  assert.match(
    rows[0] ?? '',
    new RegExp(`^${ada}  ada@example.com  - +\\d{4}-\\S*Z  no +no +0 +0 +never$`),
  )
  assert.match(
    rows[1] ?? '',
    new RegExp(`^${bob}  bob@example.com  - +\\d{4}-\\S*Z  no +no +0 +0 +never$`),
  )

  const users = JSON.parse(await program.done('user list --json'))
  assert.deepEqual(
    users.map((user: { id: string; email: string }) => [user.id, user.email]),
    [
      [ada, 'ada@example.com'],
      [bob, 'bob@example.com'],
    ],
  )
  assert.deepEqual(Object.keys(users[0]), [
    'id',
    'email',
    'external_id',
    'created_at',
    'disabled_at',
    'can_sign_in',
    'api_keys',
    'servers',
    'last_sign_in_at',
  ])
  assert.match(users[0].created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
})

test('an existing email address is refused in any case', async (t) => {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  assertRefused(await program.run('user add ADA@example.com'), 1, 'ada@example.com', 'already')
  assert.equal(JSON.parse(await program.done('user list --json')).length, 1)
})

test('an invalid email address exits with 2 and creates no database', async (t) => {
  const program = commandsIn(t)
  for (const email of ['ada', 'ada@', '@example.com', 'a b@example.com', ''])
    assertRefused(
      await program.run(['user', 'add', email]),
      2,
      JSON.stringify(email),
      'name@example.com',
    )
  assertRefused(await program.run('user list'), 1, program.databasePath, 'server-listing migrate')
})

test("a new user can't have an address that looks like another one", async (t) => {
  const program = commandsIn(t)
  for (const email of ['ada\u3164@example.com', '\u0430da@example.com', 'ada@m\u00fcller.example'])
    assertRefused(await program.run(['user', 'add', email]), 2, 'only ASCII characters', 'xn--')
  const ended = await program.run(['user', 'add', 'ada\u3164@example.com'])
  assertRefused(ended, 2, String.raw`"ada\u{3164}@example.com"`)
})

test("user remove also removes the user's keys and servers", async (t) => {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  await program.done('key issue --user ada@example.com --name bot')
  const { code, stdout, stderr } = await program.run('user remove Ada@example.com --yes')
  const removed = 'removed ada@example.com with 1 active key, 0 servers and 0 organizations'
  assert.deepEqual([code, stdout, stderr], [0, '', `${removed}\n${program.place}`])
  assert.equal(await program.done('user list --json'), '[]')
  assertRefused(
    await program.run('user remove ada@example.com --yes'),
    1,
    'there is no user ada@example.com',
    'user list',
  )
})

test('user add and user password read a password from standard input', async (t) => {
  const program = commandsIn(t)
  const options = { stdin: 'correct horse battery\n' }
  assert.match(
    await program.done('user add ada@example.com --password-stdin --create', options),
    UUID,
  )
  const set = await program.run('user password Ada@Example.com', { stdin: 'another long password' })
  assert.deepEqual(
    [set.code, set.stdout, set.stderr],
    [0, '', `set the password of ada@example.com and ended every session\n${program.place}`],
  )
  const short = await program.run('user password ada@example.com', { stdin: 'short' })
  assertRefused(short, 2, 'must have 10 to 128 characters, not 5')
  const unknown = await program.run('user password bob@example.com', options)
  assertRefused(unknown, 1, 'there is no user bob@example.com')
  const taken = await program.run('user add ada@example.com --password-stdin', options)
  assertRefused(taken, 1, 'already')
})

test('with PASSWORDS=off no command sets a password', async (t) => {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  const env = {
    PASSWORDS: 'off',
    OIDC_ISSUER: 'https://id.example.com',
    OIDC_CLIENT_ID: 'listing',
    OIDC_CLIENT_SECRET: 'a secret',
    DASHBOARD_URL: 'https://listing.example.com',
  }
  const options = { env, stdin: 'correct horse battery\n' }
  for (const command of [
    'user password ada@example.com',
    'user add bob@example.com --password-stdin',
  ])
    assertRefused(await program.run(command, options), 2, 'PASSWORDS is off')
  const users = JSON.parse(await program.done('user list --json')) as unknown[]
  assert.deepEqual(
    users.map((user) => (user as { email: string }).email),
    ['ada@example.com'],
  )
})

test('off a terminal, removing needs --yes, and the error says what would go', async (t) => {
  const program = commandsIn(t)
  await addAdaWithKey(program)
  // Piped text is no answer of an operator.
  const refused = await program.run(REMOVE, { stdin: 'yes\n' })
  assertRefused(
    refused,
    2,
    `nothing was changed: this would ${WOULD}${program.databasePath}${FOR_GOOD}`,
  )
  assertRefused(refused, 2, 'Add --yes')
  assert.match(await program.done('user list'), /ada@example\.com/)
  assert.equal((await program.run(`${REMOVE} --yes`)).code, 0)
  assert.doesNotMatch(await program.done('user list'), /ada@example\.com/)
})
