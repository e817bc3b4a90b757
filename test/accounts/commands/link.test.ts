import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { commandsIn } from '../../cli/command.ts'

/** The default: an empty variable counts as unset. */
const env = { DASHBOARD_PORT: '' }

test('user link prints a link, and the database has only the hash of its token', async (t) => {
  const program = commandsIn(t)
  await program.run('user add ada@example.com --create')
  const { code, stdout, stderr } = await program.run('user link ada@example.com --hours 2', { env })
  assert.equal(code, 0, stderr)
  const [, token] = /^http:\/\/127\.0\.0\.1:8081\/link\/([\w-]{43})\n$/.exec(stdout) ?? []
  assert.ok(token !== undefined, stdout)
  assert.match(stderr, /^the link signs in ada@example\.com once, until \S+Z, and asks for a new/)
  assert.doesNotMatch(stderr, new RegExp(token))
  const database = new DatabaseSync(program.databasePath)
  t.after(() => database.close())
  const row = database.prepare('SELECT token_hash FROM sign_in_links').get()
  assert.equal(row?.token_hash, hash('sha256', token, 'hex'))
  const json = JSON.parse((await program.run('user link ada@example.com --json', { env })).stdout)
  assert.deepEqual(Object.keys(json), ['user_id', 'email', 'url', 'expires_at'])
})
