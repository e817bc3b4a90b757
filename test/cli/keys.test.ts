import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, type Program, programIn } from './program.ts'

const KEY = /^svc_live_[0-9a-f]{64}$/

async function withAda(t: Parameters<typeof programIn>[0]): Promise<Program> {
  const program = programIn(t)
  await program.done('user add ada@example.com')
  return program
}

function issue(program: Program, name: string) {
  return program.run(['key', 'issue', '--user', 'ada@example.com', '--name', name])
}

async function listed(program: Program): Promise<Record<string, string | null>[]> {
  return JSON.parse(await program.done('key list --user ada@example.com --json'))
}

test('key issue prints the key alone, once, and says the rest on standard error', async (t) => {
  const program = await withAda(t)
  const { code, stdout, stderr } = await issue(program, 'Discord bot')
  assert.equal(code, 0)
  assert.match(stdout.trimEnd(), KEY)
  assert.equal(stdout.split('\n').length, 2)
  const [key] = await listed(program)
  assert.ok(stderr.includes(`issued ${key?.id} to ada@example.com`))
  assert.ok(!stderr.includes(stdout.slice(0, 16)))
})

test('key list shows 16 characters of a key and no more, as a table or as JSON', async (t) => {
  const program = await withAda(t)
  const key = (await issue(program, ' Discord bot ')).stdout.trimEnd()
  const table = await program.done('key list --user ada@example.com')
  const [heads, row] = table.split('\n')
  assert.match(heads ?? '', /^ID +NAME +PREFIX +ISSUED +LAST USED +STATE$/)
  assert.match(row ?? '', / Discord bot +svc_live_[0-9a-f]{7}… +\S+Z +never +active$/)
  assert.ok(table.includes(key.slice(0, 16)) && !table.includes(key.slice(0, 17)))

  const [apiKey] = await listed(program)
  assert.deepEqual(Object.keys(apiKey ?? {}), [
    'id',
    'user_id',
    'name',
    'prefix',
    'created_at',
    'revoked_at',
    'last_used_at',
  ])
  assert.equal(apiKey?.prefix, key.slice(0, 16))
  assert.equal(apiKey?.name, 'Discord bot')
  assert.match(apiKey?.created_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  assert.equal(apiKey?.revoked_at, null)
  assert.equal(apiKey?.last_used_at, null)
})

test('a name has 1 to 64 characters, counted as people do', async (t) => {
  const program = await withAda(t)
  assertRefused(await issue(program, 'x'.repeat(65)), 1, '1 to 64 characters, not 65', 'xxxxx')
  assertRefused(await issue(program, '  '), 1, '1 to 64 characters, not 0')
  assertRefused(await issue(program, 'two\nlines'), 1, 'no control characters', '"two\\nlines"')
  assert.equal((await issue(program, '🎮'.repeat(64))).code, 0)
  assert.equal((await listed(program)).length, 1)
})

test('a sixth active key is refused until one is revoked', async (t) => {
  const program = await withAda(t)
  for (const name of ['1', '2', '3', '4', '5']) assert.equal((await issue(program, name)).code, 0)
  assertRefused(await issue(program, '6'), 1, 'ada@example.com', '5 active keys', 'revoke one')
  const apiKeys = await listed(program)
  assert.equal(apiKeys.length, 5)
  await program.done(`key revoke --user ada@example.com ${apiKeys[0]?.id}`)
  assert.equal((await issue(program, '6')).code, 0)
})

test('key revoke by id says which key it was, and when it was so before', async (t) => {
  const program = await withAda(t)
  const key = (await issue(program, 'bot')).stdout.trimEnd()
  const id = (await listed(program))[0]?.id
  const command = `key revoke --user ada@example.com ${id}`

  const first = await program.run(command)
  assert.deepEqual(
    [first.code, first.stdout, first.stderr],
    [0, '', `revoked ${id} (${key.slice(0, 16)}…)\n`],
  )
  const revokedAt = (await listed(program))[0]?.revoked_at
  const second = await program.run(command)
  assert.equal(second.code, 0)
  assert.ok(second.stderr.includes(`revoked already, at ${revokedAt?.slice(0, 19)}Z`))
  assert.equal((await listed(program))[0]?.revoked_at, revokedAt)
  assert.match(await program.done('key list --user ada@example.com'), / revoked \S+Z$/)
})

test('a leaked key is revoked from standard input, whoever owns it', async (t) => {
  const program = await withAda(t)
  const key = (await issue(program, 'bot')).stdout
  const { code, stderr } = await program.run('key revoke --key-stdin', { stdin: `${key}\n` })
  assert.equal(code, 0)
  assert.match(stderr, /^revoked \S+ \(svc_live_[0-9a-f]{7}…\)\n$/)
  assert.notEqual((await listed(program))[0]?.revoked_at, null)
})

test('a key that cannot be revoked is named, unless it may be a secret', async (t) => {
  const program = await withAda(t)
  const revoke = (args: string, stdin = '') => program.run(`key revoke ${args}`, { stdin })
  assertRefused(await revoke('--user ada@example.com an-id'), 1, '"an-id"', 'key list')
  assertRefused(await revoke('--user ada@example.com'), 2, '<key-id> is missing', 'key list')
  assertRefused(await revoke('an-id'), 2, '--user <email> is missing')
  assertRefused(await revoke('--key-stdin'), 2, 'no key on standard input')
  assertRefused(await revoke('--key-stdin an-id', 'svc_live_x'), 2, 'leave out')

  const stranger = `svc_live_${'ab'.repeat(32)}`
  const unknown = await revoke('--key-stdin', stranger)
  assertRefused(unknown, 1, 'no key of this service')
  const onCommandLine = await revoke(`--user ada@example.com ${stranger}`)
  assertRefused(onCommandLine, 2, '--key-stdin')
  assert.doesNotMatch(unknown.stderr + onCommandLine.stderr, /abab/)
})
