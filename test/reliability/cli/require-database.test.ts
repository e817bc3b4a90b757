import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'

test('serve --require-database exits with 78 where serve would answer 503', async (t) => {
  const server = await openServer()
  t.after(() => server.remove())
  const wrong = new URL(await createDatabase(server))
  wrong.password = 'hunter2'
  const program = programIn(t)
  const reasons: Record<string, string> = {
    nonsense: 'DATABASE_URL must begin with',
    [`sqlite:${program.folder}`]: 'it is a folder',
    [wrong.href]: 'refuses the user name or the password',
  }
  for (const [url, reason] of Object.entries(reasons)) {
    const refused = await program.begin('serve --require-database', {
      env: { DATABASE_URL: url },
    }).ended
    assert.equal(refused.code, 78)
    assert.match(refused.stderr, /^error: .*\n$/)
    assert.ok(refused.stderr.includes(reason), refused.stderr)
    assert.doesNotMatch(refused.stderr + refused.stdout, /hunter2/)
  }
})

test('serve --require-database serves on a good database, and waits for an absent one', async (t) => {
  const program = programIn(t)
  const absent = `postgres://u:p@127.0.0.1:${await freePort()}/listing`
  for (const env of [{}, { DATABASE_URL: absent }]) {
    const served = program.begin('serve --require-database', { env })
    await served.written(/listening on/)
    const port = Number(/listening on http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
    assert.equal((await ask(port, { path: '/health' })).status, 200)
    served.kill('SIGTERM')
    assert.equal((await served.ended).code, 0)
  }
  assertRefused(await program.run('serve --require-databases'), 2, '--require-database')
})
