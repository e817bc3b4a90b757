import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { addAda, addAdaWithKey, addAdaWithKeys } from '../../cli/ada.ts'
import { assertRefused, type Commands, commandsIn } from '../../cli/command.ts'

const KEY = /^svc_live_[0-9a-f]{64}$/

async function withAda(t: Parameters<typeof commandsIn>[0]): Promise<Commands> {
  const program = commandsIn(t)
  await addAda(program)
  return program
}

function issue(program: Commands, name: string) {
  return program.run(['key', 'issue', '--user', 'ada@example.com', '--name', name])
}

async function listed(program: Commands): Promise<Record<string, string | null>[]> {
  return JSON.parse(await program.done('key list --user ada@example.com --json'))
}

test('key issue prints only the key to standard output, and the rest to standard error', async (t) => {
  const program = await withAda(t)
  const { code, stdout, stderr } = await issue(program, 'Discord bot')
  assert.equal(code, 0)
  assert.match(stdout.trimEnd(), KEY)
  assert.equal(stdout.split('\n').length, 2)
  const [key] = await listed(program)
  assert.ok(stderr.includes(`issued ${key?.id} to ada@example.com`))
  assert.ok(!stderr.includes(stdout.slice(0, 16)))
})

test('key list shows only 16 characters of a key, as a table or as JSON', async (t) => {
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
    'email',
    'external_id',
    'disabled_at',
  ])
  assert.equal(apiKey?.prefix, key.slice(0, 16))
  assert.equal(apiKey?.name, 'Discord bot')
  assert.match(apiKey?.created_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  assert.equal(apiKey?.revoked_at, null)
  assert.equal(apiKey?.last_used_at, null)
})

test('a key name has 1 to 64 characters, and an emoji counts as one', async (t) => {
  const program = await withAda(t)
  assertRefused(await issue(program, 'x'.repeat(65)), 2, '1 to 64 characters, not 65', 'xxxxx')
  assertRefused(await issue(program, '  '), 2, '1 to 64 characters, not 0')
  assertRefused(await issue(program, 'two\nlines'), 2, 'no control characters', '"two\\nlines"')
  assert.equal((await issue(program, '🎮'.repeat(64))).code, 0)
  assert.equal((await listed(program)).length, 1)
})

test('a sixth active key is refused until one is revoked', async (t) => {
  const program = commandsIn(t)
  await addAdaWithKeys(program, 4)
  assert.equal((await issue(program, '5')).code, 0)
  assertRefused(await issue(program, '6'), 1, 'ada@example.com', '5 active keys', 'revoke one')
  const apiKeys = await listed(program)
  assert.equal(apiKeys.length, 5)
  await program.done(`key revoke --user ada@example.com ${apiKeys[0]?.id}`)
  assert.equal((await issue(program, '6')).code, 0)
})

test('key revoke prints the key, and the time if it was already revoked', async (t) => {
  const program = commandsIn(t)
  const { key, id } = await addAdaWithKey(program)
  const command = `key revoke --user ada@example.com ${id}`

  const first = await program.run(command)
  assert.deepEqual(
    [first.code, first.stdout, first.stderr],
    [0, '', `revoked ${id} (${key.slice(0, 16)}…)\n${program.place}`],
  )
  const revokedAt = (await listed(program))[0]?.revoked_at
  const second = await program.run(command)
  assert.equal(second.code, 0)
  assert.ok(second.stderr.includes(`already revoked at ${revokedAt?.slice(0, 19)}Z`))
  assert.equal((await listed(program))[0]?.revoked_at, revokedAt)
  assert.match(await program.done('key list --user ada@example.com'), / revoked \S+Z$/)
})

test('a leaked key on standard input is revoked, whichever user owns it', async (t) => {
  const program = commandsIn(t)
  const { key } = await addAdaWithKey(program)
  const { code, stderr } = await program.run('key revoke --key-stdin', { stdin: `${key}\n` })
  assert.equal(code, 0)
  assert.match(stderr, /^revoked \S+ \(svc_live_[0-9a-f]{7}…\)\ndatabase: .*\n$/)
  assert.notEqual((await listed(program))[0]?.revoked_at, null)
})

test('key revoke exits with 1 and changes nothing if the journal of revocations cannot be read', async (t) => {
  const program = commandsIn(t)
  const { key } = await addAdaWithKey(program)
  const journal = `${program.databasePath}-revoked`
  mkdirSync(journal)
  const refused = await program.run('key revoke --key-stdin', { stdin: key })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^error: cannot read the journal of revocations .*: it is not a /)
  rmdirSync(journal)
  assert.equal((await listed(program))[0]?.revoked_at, null)
})

test('a command warns of keys that the journal has revoked again', async (t) => {
  const program = commandsIn(t)
  const { key } = await addAdaWithKey(program)
  const older = readFileSync(program.databasePath)
  await program.done('key revoke --key-stdin', { stdin: key })
  for (const end of ['-wal', '-shm']) rmSync(`${program.databasePath}${end}`, { force: true })
  writeFileSync(program.databasePath, older)
  const { code, stderr } = await program.run('key list --user ada@example.com')
  assert.equal(code, 0)
  assert.match(stderr, /^warning: 1 active key was revoked again, because .*-revoked names them/)
})

test('every key in a leaked file is revoked, among other text', async (t) => {
  const program = commandsIn(t)
  const keys = (await addAdaWithKeys(program, 2)).map(({ key }) => key)
  const stranger = `svc_live_${'ab'.repeat(32)}`
  const stdin = `commit 1234\n+KEY=${keys[0]}SERVER=x\n+"${stranger}${keys[1]}"\n${keys[0]}\n`
  const { code, stdout, stderr } = await program.run('key revoke --key-stdin', { stdin })
  assert.deepEqual([code, stdout], [0, ''], stderr)
  const lines = stderr.trimEnd().split('\n')
  assert.equal(lines.length, 4)
  for (const key of keys)
    assert.ok(lines.some((line) => line.startsWith('revoked ') && line.includes(key.slice(0, 16))))
  assert.equal(lines[2], '1 of the 3 keys on standard input is not an API key of this service')
  for (const apiKey of await listed(program)) assert.notEqual(apiKey.revoked_at, null)
  const again = await program.run('key revoke --key-stdin', { stdin })
  assert.equal(again.code, 0)
  assert.equal(again.stderr.match(/was already revoked at/g)?.length, 2)
})

test('a revocation that fails halfway lists and logs the revoked keys, and a repetition finishes', async (t) => {
  const program = commandsIn(t)
  const [first, second] = await addAdaWithKeys(program, 2)
  const strangers = Array.from({ length: 1_000 }, () => generateKey())
  const stdin = [first?.key, ...strangers, second?.key].join(' ')
  const database = new DatabaseSync(program.databasePath)
  t.after(() => database.close())
  database.exec(`CREATE TRIGGER full BEFORE UPDATE ON api_keys WHEN OLD.id = '${second?.id}'
    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  const failed = await program.run('key revoke --key-stdin', { stdin })
  assert.equal(failed.code, 1)
  assert.deepEqual(failed.stderr.trimEnd().split('\n'), [
    `revoked ${first?.id} (${first?.key.slice(0, 16)}…)`,
    'error: looked up 1,000 of the 1,002 keys on standard input and revoked those listed above, ' +
      'then failed: the disk is full. Run the same command again to finish',
  ])
  const revoked = () =>
    database.prepare(`SELECT subject FROM audit_log WHERE action = 'key revoked'`).all()
  assert.deepEqual(
    revoked().map(({ subject }) => subject),
    [first?.id],
  )
  database.exec('DROP TRIGGER full')
  const again = await program.run('key revoke --key-stdin', { stdin })
  assert.equal(again.code, 0)
  assert.ok(again.stderr.includes(`revoked ${second?.id}`))
  assert.equal(revoked().length, 2)
})

test('a key in binary data or UTF-16 is revoked', async (t) => {
  const program = commandsIn(t)
  const [binary, wide] = (await addAdaWithKeys(program, 2)).map(({ key }) => key)
  for (const stdin of [
    Buffer.concat([Buffer.of(0xff, 0), Buffer.from(binary!), Buffer.of(0xfe)]),
    Buffer.from(`\ufeff${wide}\r\n`, 'utf16le'),
  ]) {
    const { code, stderr } = await program.run('key revoke --key-stdin', { stdin })
    assert.deepEqual([code, stderr.split(' ')[0]], [0, 'revoked'], stderr)
  }
})
