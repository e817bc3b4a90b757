import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePort } from '../../fixtures/free-port.ts'
import { assertRefused } from '../command.ts'
import { programIn, type Served } from '../program.ts'

test('health exits with 0 for a service that is ready, and prints its checks with --json', async (t) => {
  const program = programIn(t)
  const env = { OPS_PORT: await opsPortOf(await program.serve()) }
  assert.equal(await program.done('health --wait 60', { env }), 'ready')
  assert.deepEqual(JSON.parse(await program.done('health --json', { env })), {
    ready: true,
    checks: { schema: 'ok', claims: 'ok', shutdown: 'ok' },
  })
})

test('health exits with 1 and says why a service is not ready', async (t) => {
  const program = programIn(t)
  const served = await program.serve({ env: { DATABASE_URL: 'nonsense' } })
  const env = { OPS_PORT: await opsPortOf(served) }
  const refused = await program.run('health', { env })
  assertRefused(refused, 1, 'not ready: schema: DATABASE_URL must begin with', '; claims: ')
  const { code, stdout } = await program.run('health --json', { env })
  assert.equal(code, 1)
  const { ready, checks } = JSON.parse(stdout)
  assert.equal(ready, false)
  assert.match(checks.claims, /^DATABASE_URL must begin with/)
})

test('health --wait lasts until the service has started', async (t) => {
  const program = programIn(t)
  const env = { OPS_PORT: String(await freePort()) }
  const waiting = program.run('health --wait 120', { env })
  await program.serve({ env })
  assert.equal((await waiting).code, 0)
})

async function opsPortOf(served: Served): Promise<string> {
  await served.written(/metrics at http/)
  return /metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())![1]!
}
