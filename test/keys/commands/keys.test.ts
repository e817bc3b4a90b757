import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { addAdaWithKey, addAdaWithKeys } from '../../cli/ada.ts'
import { type Commands, commandsIn } from '../../cli/command.ts'

async function listed(program: Commands): Promise<Record<string, string | null>[]> {
  return JSON.parse(await program.done('key list --user ada@example.com --json'))
}

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
