import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { assertRefused } from '../../cli/command.ts'
import { programIn, type Served } from '../../cli/program.ts'

/* Several processes on one PostgreSQL database that listen on the same ports. */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('processes share the ports, and one serves on after the other has ended', async (t) => {
  const { program, serve, key } = await setScene(t)
  const first = await serve({ PORT: '0' })
  const shared = { PORT: String(first.port), DASHBOARD_PORT: await dashboardPortOf(first) }
  const second = await serve(shared)
  assert.deepEqual(
    [second.port, await dashboardPortOf(second)],
    [first.port, shared.DASHBOARD_PORT],
  )

  // The system picks a process for each connection.
  while (answeredBy(first) === 0 || answeredBy(second) === 0) {
    const { status, body } = await ask(first.port, { path: '/health' })
    assert.deepEqual([status, body], [200, '{"ok":true}'])
  }
  first.kill('SIGTERM')
  assert.equal((await first.ended).code, 0)
  assert.equal((await ask(first.port, { key })).status, 200)
  const pages = await ask(Number(shared.DASHBOARD_PORT), { path: '/sign-in' })
  assert.equal(pages.status, 200)

  const alone = await program.begin('serve', {
    env: { ...shared, DATABASE_URL: await newUrl() },
  }).ended
  assertRefused(alone, 1, `PORT ${first.port}`, 'another process uses the port')
})

test('processes that share their ports have health checks of their own', async (t) => {
  const { program, serve } = await setScene(t)
  const first = await serve({ PORT: '0' })
  await first.written(/health and metrics at/)
  const [, OPS_PORT = ''] = /metrics at http:\/\/[^\s"]*:(\d+)/.exec(first.stdout()) ?? []
  const env = { DATABASE_URL: await newUrl(), REUSE_PORT: 'on', OPS_PORT }
  const refused = await program.begin('serve', { env }).ended
  assertRefused(refused, 1, `OPS_PORT ${OPS_PORT}`, 'each needs its own OPS_PORT')
})

test('the error names a port that its holder does not share', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1')
  t.after(() => holder.close())
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as AddressInfo
  const refused = await programIn(t).begin('serve', {
    env: { DATABASE_URL: await newUrl(), REUSE_PORT: 'on', PORT: String(port) },
  }).ended
  assertRefused(refused, 1, `PORT ${port}`, 'both processes need REUSE_PORT=on')
})

test('on SQLite no process shares its port', async (t) => {
  const refused = await programIn(t).run('serve', { env: { REUSE_PORT: 'on' } })
  assertRefused(refused, 2, 'REUSE_PORT must be off on SQLite')
})

async function setScene(t: TestContext) {
  const program = programIn(t)
  const env = { DATABASE_URL: await newUrl(), REUSE_PORT: 'on', LOG_LEVEL: 'debug' }
  await program.done('user add ada@example.com --create', { env })
  const key = await program.done('key issue --user ada@example.com --name bot', { env })
  const serve = (ports: Record<string, string>) => program.serve({ env: { ...env, ...ports } })
  return { program, serve, key }
}

function newUrl(): Promise<string> {
  return createDatabase(server)
}

async function dashboardPortOf(served: Served): Promise<string> {
  await served.written(/dashboard at/)
  return /dashboard at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())![1]!
}

function answeredBy(served: Served): number {
  return served.stdout().split('"answered"').length - 1
}
