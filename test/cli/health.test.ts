import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { freePort } from '../fixtures/postgres/cluster.ts'
import { assertRefused, programIn, type Served } from './program.ts'

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
  const waiting = program.begin('health --wait 120', { env })
  await program.serve({ env })
  assert.equal((await waiting.ended).code, 0)
})

test('health names the address where no service answers', async (t) => {
  const program = programIn(t)
  const env = { OPS_PORT: String(await freePort()), OPS_HOST: '0.0.0.0' }
  const refused = await program.run('health', { env })
  assertRefused(refused, 1, `http://127.0.0.1:${env.OPS_PORT}/readyz`, 'ECONNREFUSED', 'OPS_PORT')
  const { stdout } = await program.run('health --json', { env })
  assert.match(JSON.parse(stdout).problem, /no service answers/)
})

test('health tells another program from the service', async (t) => {
  let body = ''
  const other = createServer((_, outgoing) => outgoing.end(body))
  other.listen(0, '127.0.0.1')
  t.after(() => other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const program = programIn(t)
  for (body of ['{"ready":"yes"}', 'null', '{"ready":false,"checks":null}', 'ready']) {
    const refused = await program.run('health', { env: { OPS_PORT: String(port) } })
    assertRefused(refused, 1, `http://127.0.0.1:${port}/readyz is another program`)
  }
})

test('health needs a port, and a wait in seconds', async (t) => {
  const program = programIn(t)
  assertRefused(await program.run('health'), 2, 'OPS_PORT must be the port of the running service')
  for (const wait of ['-1', 'long', '3601', '1.5'])
    assertRefused(await program.run(['health', `--wait=${wait}`]), 2, '--wait must be', `"${wait}"`)
})

async function opsPortOf(served: Served): Promise<string> {
  await served.written(/metrics at http/)
  return /metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())![1]!
}
