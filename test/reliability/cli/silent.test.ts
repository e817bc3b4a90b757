import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { diagnose } from '../../cli/doctor/findings.ts'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { once } from '../../fixtures/within.ts'

test('health and doctor say that a service takes connections and does not answer', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const program = programIn(t)
  const env = { OPS_PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` }
  const [refused, found] = await Promise.all([
    program.run('health', { env }),
    diagnose(program, env),
  ])
  assertRefused(refused, 1, '/readyz hangs: no answer within 3 s')
  assert.match(found.service!.found, /\/readyz hangs: no answer within 3 s/)
  assert.match(found.api!.found, /\/health does not answer this machine \(no answer within 5 s\)/)
})
