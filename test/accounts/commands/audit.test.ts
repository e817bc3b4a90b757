import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { addAdaWithKeys } from '../../cli/ada.ts'
import { type Commands, commandsIn } from '../../cli/command.ts'
import { everyCommand } from '../../cli/every-command.ts'

/** The audit entries of a command. */
const COMMANDS: {
  args: string | ((known: Known) => string)
  stdin?: string | ((known: Known) => string)
  actions: string[]
}[] = [
  { args: 'user add bob@example.com', actions: ['user added'] },
  { args: 'user list', actions: [] },
  {
    args: 'user link ada@example.com --json',
    actions: ['sign-in link issued'],
  },
  {
    args: 'user password ada@example.com',
    stdin: 'correct horse battery',
    actions: ['password changed'],
  },
  { args: 'user disable ada@example.com', actions: ['user disabled'] },
  { args: 'user disable ada@example.com', actions: [] },
  { args: 'user enable ada@example.com', actions: ['user enabled'] },
  {
    args: 'user email ada@example.com ada@example.com',
    actions: ['e-mail changed'],
  },
  {
    args: 'key issue --user ada@example.com --name third',
    actions: ['key issued'],
  },
  {
    args: ({ id }) => `key rename --user ada@example.com --name renamed ${id}`,
    actions: ['key renamed'],
  },
  {
    args: ({ id }) => `key revoke --user ada@example.com ${id}`,
    actions: ['key revoked'],
  },
  // The first key is already revoked.
  {
    args: 'key revoke --key-stdin',
    stdin: ({ keys }) => keys.join(' '),
    actions: ['key revoked'],
  },
  {
    args: 'server import --user ada@example.com -',
    stdin: '[{"name":"Survival","address":"play.example.com"}]',
    actions: ['servers imported'],
  },
  {
    args: 'key import --user ada@example.com --hash-file -',
    stdin: `[{"name":"imported","key_hash":"${'0b'.repeat(32)}"}]`,
    actions: ['key imported', 'keys imported'],
  },
  {
    args: 'apply - --yes',
    stdin: `{"format_version":1,"users":[{"email":"ada@example.com","keys":[{"name":"moved","key_hash":"${'0a'.repeat(32)}"}]}]}`,
    actions: ['key imported', 'state applied'],
  },
  { args: 'export', actions: [] },
  { args: 'migrate', actions: [] },
  { args: 'user remove ada@example.com --yes', actions: ['user removed'] },
]

/** These serve, only look, or are groups. test/rows/ has the entries of the four that change. */
const OTHERS = [
  'audit',
  'audit list',
  'backup',
  'config',
  'conform',
  'doctor',
  'health',
  'key list',
  'organization',
  'organization list',
  'restore',
  'serve',
  'server list',
  'server remove',
  'user identities',
]

interface Known {
  keys: string[]
  /** The id of the first key. */
  id: string
}

test('each command that changes anything writes an audit entry', async (t) => {
  const program = commandsIn(t)
  const known = await fill(program)
  const ada = execute(program, (database) => database.prepare('SELECT id FROM users').get()!.id)
  for (const { args, stdin = '', actions } of COMMANDS) {
    const before = readLog(program).length
    const given = typeof stdin === 'string' ? stdin : stdin(known)
    const env = { DASHBOARD_URL: 'https://listing.example.com' }
    await program.done(typeof args === 'string' ? args : args(known), { stdin: given, env })
    const written = readLog(program).slice(before)
    const label = String(args)
    assert.deepEqual(
      written.map(({ action }) => action),
      actions,
      label,
    )
    for (const { user_id, address, action } of written) {
      assert.equal(address, 'command line')
      const isOfAll = ['keys imported', 'state applied'].includes(String(action))
      assert.equal(user_id === ada, !label.includes('bob') && !isOfAll, label)
    }
  }
  const tried = COMMANDS.map(({ args }) => (typeof args === 'string' ? args : args(known)))
  const untried = (await everyCommand()).filter(
    (name) => !tried.some((args) => `${args} `.startsWith(`${name} `)),
  )
  assert.deepEqual(untried.toSorted(), OTHERS)
})

test("a command fails and changes nothing if its audit entry can't be written", async (t) => {
  const program = commandsIn(t)
  const { id } = await fill(program)
  execute(program, (database) =>
    database.exec(
      `CREATE TRIGGER away BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'it is away'); END`,
    ),
  )
  const ended = await program.run(`key revoke --user ada@example.com ${id}`)
  assert.deepEqual([ended.code, ended.stdout], [1, ''])
  assert.match(ended.stderr, /^error: [^\n]*it is away \(set LOG_LEVEL=debug to see where\)\n$/)
  // Two keys of one millisecond come in the order of their random ids.
  const keys: { id: string; revoked_at: number | null }[] = JSON.parse(
    await program.done('key list --json'),
  )
  assert.equal(keys.find((key) => key.id === id)?.revoked_at, null)
})

async function fill(program: Commands): Promise<Known> {
  const issued = await addAdaWithKeys(program, 2)
  return { keys: issued.map(({ key }) => key), id: issued[0]!.id }
}

function readLog(program: Commands) {
  return execute(program, (database) =>
    database.prepare('SELECT action, user_id, address FROM audit_log ORDER BY rowid').all(),
  )
}

function execute<T>({ databasePath }: Commands, body: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(databasePath)
  try {
    return body(database)
  } finally {
    database.close()
  }
}
