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

test('a wrong --hours or user is an error, and no link is made', async (t) => {
  const program = commandsIn(t)
  await program.run('user add ada@example.com --create')
  for (const hours of ['0', '73', '1.5', 'day']) {
    const { code, stdout, stderr } = await program.run(
      `user link ada@example.com --hours ${hours}`,
      { env },
    )
    assert.deepEqual([code, stdout], [2, ''])
    assert.ok(stderr.includes(`--hours must be a number from 1 to 72, not "${hours}"`), stderr)
  }
  const unknown = await program.run('user link eve@example.com', { env })
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /there is no user eve@example\.com in .*user add eve@example\.com/)
})

test('with PASSWORDS=off, the command says nothing of a new password', async (t) => {
  const program = commandsIn(t)
  await program.run('user add ada@example.com --create')
  const off = {
    PASSWORDS: 'off',
    OIDC_ISSUER: 'https://id.example.com',
    OIDC_CLIENT_ID: 'listing',
    OIDC_CLIENT_SECRET: 'a secret',
  }
  const { code, stderr } = await program.run('user link ada@example.com', {
    env: { ...env, ...off },
  })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^the link signs in ada@example\.com once, until \S+Z\. Earlier links/)
})
