import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { formatInstant, presentInstant } from '../../../src/model/instant.ts'
import { empty, fileOf, hashOf, STATE } from './files.ts'

test('a failure in the middle says how far it came, and a second run finishes', async (t) => {
  const { run, databasePath } = await empty(t)
  // The servers of the first user fill a transaction.
  const state = fileOf(
    { email: 'ada@example.com', servers: servers('ada', 1_000) },
    { email: 'bob@example.com', servers: servers('bob', 1) },
  )
  const database = new DatabaseSync(databasePath)
  database.exec(`CREATE TRIGGER away BEFORE INSERT ON servers WHEN NEW.name = 'bob'
    BEGIN SELECT RAISE(ABORT, 'it is away'); END`)
  const failed = await run('apply - --yes', { stdin: state })
  assert.equal(failed.code, 1)
  assert.match(
    failed.stderr,
    /error: 2 changes of bob@example\.com were not made: it is away\. Done before that: 1,001 of 1,003 changes\. Run the same command again to finish\n$/,
  )
  const whole = await run('apply - --yes', { stdin: STATE })
  assert.match(
    whole.stderr,
    /error: 12 changes from red to bob@example\.com were not made: it is away\. Done before that: 0 of 12 /,
  )
  database.exec('DROP TRIGGER away')
  database.close()
  for (const stdin of [state, STATE]) {
    assert.equal((await run('apply - --yes', { stdin })).code, 0)
    assert.match((await run('apply -', { stdin })).stderr, /\n0 changes\n/)
  }
})

test('a last use within the last second is waited for, and one in the future is refused', async (t) => {
  const { run, exported } = await empty(t)
  const refused = await run('apply - --yes', {
    stdin: stateWith(formatInstant(presentInstant() + 60_000_000)),
  })
  assert.match(refused.stderr, /put_keys\[0\]\.last_used_at: lies in the future/)
  const usedAt = presentInstant()
  const applied = await run('apply - --yes', { stdin: stateWith(formatInstant(usedAt)) })
  assert.equal(applied.code, 0, applied.stderr)
  const [key] = JSON.parse(await exported()).put_keys
  assert.equal(key.last_used_at, formatInstant(usedAt))
  assert.ok(presentInstant() - usedAt >= 1_000_000)
})

const servers = (name: string, length: number) =>
  Array.from({ length }, (_, at) => ({ name, slug: `${name}${at}`, address: 's.example.com' }))

/** A key with this last use. */
const stateWith = (last_used_at: string) =>
  fileOf({ email: 'ada@example.com', keys: [{ name: 'a', key_hash: hashOf('a'), last_used_at }] })
