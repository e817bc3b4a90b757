import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { urlOf } from '../../../src/config/config.ts'
import { ask } from '../../fixtures/requests.ts'
import { addAdaWithKey } from '../ada.ts'
import { assertRefused } from '../command.ts'
import { logLines, programIn } from '../program.ts'

test('serve answers on the port in the first line of its log', async (t) => {
  const served = await programIn(t).serve()
  const { status, body } = await ask(served.port, { path: '/health' })
  assert.deepEqual([status, body], [200, '{"ok":true}'])
  const [line] = logLines(served.stdout())
  assert.equal(line?.level, 'info')
  assert.equal(line?.msg, `listening on http://127.0.0.1:${served.port}`)
  assert.equal(served.stderr(), '')
})

test('a URL has its IPv6 address in brackets', () => {
  assert.equal(urlOf('::1', 80), 'http://[::1]:80')
  assert.equal(urlOf('127.0.0.1', 80), 'http://127.0.0.1:80')
})

test('the next answer shows a change by a command in another process', async (t) => {
  const program = programIn(t)
  const { port } = await program.serve()
  await program.done('user add ada@example.com --create')
  const issue = (name: string) => program.done(`key issue --user ada@example.com --name ${name}`)
  const [first, second, third] = [await issue('1'), await issue('2'), await issue('3')]

  assert.equal((await ask(port, { key: first })).body, '{"servers":[]}')
  const entry = '[{"name":"Survival","address":"play.example.com"}]'
  await program.done('server import --user ada@example.com -', { stdin: entry })
  const { servers } = JSON.parse((await ask(port, { key: second })).body)
  assert.equal(servers[0].address, 'play.example.com')

  // The first key's second may not be over. Revocation is checked before the limit.
  await program.done('key revoke --key-stdin', { stdin: first })
  assert.equal((await ask(port, { key: first })).status, 401)
  await program.done('user remove ada@example.com --yes')
  assert.equal((await ask(port, { key: third })).status, 401)
})

test('key list shows the time of the last use', async (t) => {
  const program = programIn(t)
  const { key } = await addAdaWithKey(program)
  const { port } = await program.serve()
  const before = Date.now()
  assert.equal((await ask(port, { key })).status, 200)
  const after = Date.now()
  const list = JSON.parse(await program.done('key list --user ada@example.com --json'))
  const lastUsed = Date.parse(list[0].last_used_at)
  assert.ok(before <= lastUsed && lastUsed <= after, list[0].last_used_at)
})

test('a second serve on the same file exits with 1 and names the first process', async (t) => {
  const program = programIn(t)
  const first = await program.serve()
  const second = await program.begin('serve').ended
  assertRefused(second, 1, program.databasePath, `process ${first.pid};`)
  assert.equal((await ask(first.port, { path: '/health' })).status, 200)

  first.kill('SIGTERM')
  await first.ended
  await program.serve()
})

test('a service whose file is removed answers 502 and logs what to do', async (t) => {
  const program = programIn(t)
  const { key } = await addAdaWithKey(program)
  const served = await program.serve()
  rmSync(program.databasePath)
  // Even without a request.
  await served.written(/listing\.db was removed while.*restart the service/)
  const { status, body } = await ask(served.port, { key })
  assert.deepEqual([status, body], [502, '{"error":"Authentication service error."}'])
  assert.equal((await ask(served.port, { path: '/health' })).status, 200)
  served.kill('SIGTERM')
  assert.equal((await served.ended).code, 0)
})

test('the error names a port in use and what to do', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1')
  t.after(() => holder.close())
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as AddressInfo
  const program = programIn(t)
  const refused = await program.begin('serve', { env: { PORT: String(port) } }).ended
  assertRefused(refused, 1, `HOST 127.0.0.1, PORT ${port}`, 'another process', 'set PORT')
  const dashboard = await program.begin('serve', { env: { DASHBOARD_PORT: String(port) } }).ended
  assertRefused(dashboard, 1, `DASHBOARD_PORT ${port}`, 'another process', 'set DASHBOARD_PORT')
  const health = await program.begin('serve', { env: { OPS_PORT: String(port) } }).ended
  assertRefused(health, 1, `OPS_HOST 127.0.0.1, OPS_PORT ${port}`, 'set OPS_PORT to another')
  // The failed process has released the file.
  await program.serve()
})

test('the error names a HOST that this machine does not have', async (t) => {
  const program = programIn(t)
  const refused = await program.begin('serve', { env: { HOST: '192.0.2.1' } }).ended
  assertRefused(refused, 1, ' HOST 192.0.2.1', 'no such address', 'Set HOST')
  const health = await program.begin('serve', { env: { OPS_HOST: '192.0.2.1' } }).ended
  assertRefused(health, 1, 'OPS_HOST 192.0.2.1', 'no such address', 'Set OPS_HOST')
})

test('without a usable database the service answers 503 and logs why', async (t) => {
  const program = programIn(t)
  const unusable = [
    [{ DATABASE_URL: 'nonsense' }, /DATABASE_URL must begin with sqlite:.*has no scheme/],
    [{ DATABASE_URL: 'mysql://u:secret@host/db' }, /has the scheme \\"mysql\\"/],
    [{ DATABASE_URL: 'sqlite:' }, /must name a file/],
    [{ DATABASE_URL: '', NODE_ENV: 'production' }, /DATABASE_URL must be set in production/],
    [{ DATABASE_URL: `sqlite:${program.folder}` }, /it is a folder/],
  ] as const
  await Promise.all(
    unusable.map(async ([env, reason]) => {
      const served = await program.serve({ env })
      assert.equal((await ask(served.port, { path: '/health' })).status, 200)
      const { status, body } = await ask(served.port, { key: 'svc_live_any' })
      assert.deepEqual([status, body], [503, '{"error":"API server is not configured."}'])
      assert.match(served.stdout(), reason)
      assert.doesNotMatch(served.stdout(), /secret/)
      served.kill('SIGTERM')
      assert.equal((await served.ended).code, 0)
    }),
  )
})
