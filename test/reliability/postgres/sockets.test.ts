import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { give, startCluster } from '../../fixtures/postgres/cluster.ts'
import { ask } from '../../fixtures/requests.ts'

/*
 * A Unix socket in DATABASE_URL, in the forms of PostgreSQL's own programs. The last line of a
 * command names the database that it used.
 */

test('each form of a Unix socket connects to it, and names it', async (t) => {
  const folder = temporaryFolder(t)
  give(folder)
  chmodSync(folder, 0o755)
  const cluster = await startCluster({ settings: { unix_socket_directories: folder } })
  t.after(() => cluster.remove())
  const { port } = cluster
  const program = programIn(t)
  const encoded = encodeURIComponent(folder)
  for (const DATABASE_URL of [
    `postgres:///postgres?host=${folder}&port=${port}&user=postgres&password=secret`,
    `postgres://postgres:secret@/postgres?host=${encoded}&port=${port}`,
    `postgres://postgres:secret@${encoded}:${port}/postgres`,
    // The host of the URL is not used, and a socket has no TLS.
    `postgres://postgres:secret@db.invalid:${port}/postgres?host=${folder}&sslmode=verify-full`,
  ]) {
    const { code, stderr } = await program.run('migrate', { env: { DATABASE_URL } })
    assert.equal(code, 0, stderr)
    assert.equal(stderr.trim().split('\n').at(-1), `database: ${folder}:${port}/postgres`)
  }

  const env = { DATABASE_URL: `postgres://postgres:secret@/postgres?host=${folder}&port=${port}` }
  const served = await program.serve({ env })
  assert.equal((await ask(served.port, { key: generateKey() })).status, 401)
  // A server that is away may return, and its socket with it: 502, not 503.
  await cluster.stop('fast')
  assert.equal((await ask(served.port, { key: generateKey() })).status, 502)
  assertRefused(
    await program.run('user list', { env }),
    1,
    `no server listens at ${folder}/.s.PGSQL.${port}. Is PostgreSQL running?`,
  )
  await cluster.start()
  assert.equal((await ask(served.port, { key: generateKey() })).status, 401)
})

test('without a user, the name of the user of the process signs in', async (t) => {
  const folder = temporaryFolder(t)
  give(folder)
  chmodSync(folder, 0o755)
  const cluster = await startCluster({ settings: { unix_socket_directories: folder } })
  t.after(() => cluster.remove())
  const DATABASE_URL = `postgres:///postgres?host=${folder}&port=${cluster.port}&password=x`
  const ended = await programIn(t).run('migrate', { env: { DATABASE_URL, USER: 'eve' } })
  assertRefused(ended, 1, 'the server refuses the user name or the password')
  const { userInfo } = await import('node:os')
  assert.match(cluster.log(), new RegExp(`authentication failed for user "${userInfo().username}"`))
})
