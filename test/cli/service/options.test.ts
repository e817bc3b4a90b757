import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRefused, programIn } from '../program.ts'

test('options of serve replace the variables of the environment', async (t) => {
  const program = programIn(t)
  const path = join(program.folder, 'given.db')
  const served = program.begin(`serve --host ::1 --port 0 --database sqlite:${path}`, {
    env: { HOST: '127.0.0.1', PORT: '1' },
  })
  await served.written(/no account yet/)
  assert.match(served.stdout(), /listening on http:\/\/\[::1\]:\d+/)
  assert.ok(served.stdout().includes(`"database: ${path}"`), served.stdout())
  assert.ok(existsSync(path) && !existsSync(program.databasePath))
})

test('a wrong option of serve is named with its value, and never with a password', async (t) => {
  const program = programIn(t)
  const refused = await program.run(['serve', '--port', '80800', '--host', 'a b'])
  assertRefused(refused, 2, '--port must be a port from 0 to 65535, not "80800"')
  assertRefused(refused, 2, '--host must be an IP address or a host name, not "a b"')
  const same = await program.run('serve --port 8081', { env: { DASHBOARD_PORT: '8081' } })
  assertRefused(same, 2, 'DASHBOARD_PORT must differ from --port, which is 8081')
  const url = await program.run('serve --database mysql://ada:hunter2@host/db')
  assertRefused(url, 2, '--database must begin with sqlite: or postgres://')
  assert.doesNotMatch(url.stderr, /hunter2/)
})
