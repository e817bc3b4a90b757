import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../program.ts'

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
