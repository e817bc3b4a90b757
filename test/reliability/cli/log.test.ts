import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from '../../fixtures/requests.ts'
import { addAdaWithKey } from '../../cli/ada.ts'
import type { ProcessOptions } from '../../cli/process.ts'
import { logLines, type Program, programIn, type Served } from '../../cli/program.ts'

async function serveWithKey(
  t: TestContext,
  options: ProcessOptions,
): Promise<{ program: Program; served: Served; key: string; apiKeyId: string }> {
  const program = programIn(t)
  const { key, id } = await addAdaWithKey(program)
  return { program, served: await program.serve(options), key, apiKeyId: id }
}

async function stop(served: Served): Promise<string> {
  served.kill('SIGTERM')
  return (await served.ended).stdout
}

test('at debug each request is a line with the allowed fields only', async (t) => {
  const { served, key, apiKeyId } = await serveWithKey(t, { env: { LOG_LEVEL: 'debug' } })
  await ask(served.port, { key })
  await ask(served.port, { key, path: '/v1/servers?x=1' })
  await ask(served.port, { path: '/health' })
  await ask(served.port, { path: '/v1/servers/42', method: 'DELETE' })
  await ask(served.port, { headers: { Host: 'a b' } })

  const lines = logLines(await stop(served)).filter((line) => line.level === 'debug')
  for (const { time } of lines) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.ok(lines.every(({ ms }) => ms === undefined || (typeof ms === 'number' && ms >= 0)))
  const expected = { level: 'debug', method: 'GET', msg: 'answered', api_key_id: null }
  assert.deepEqual(
    lines.map(({ time: _time, ms: _ms, ...line }) => line),
    [
      { ...expected, route: '/v1/servers', status: 200, api_key_id: apiKeyId },
      { ...expected, route: '/v1/servers', status: 429, api_key_id: apiKeyId },
      { ...expected, route: '/health', status: 200 },
      { ...expected, route: 'unknown', status: 404, method: 'DELETE' },
      { ...expected, route: 'unknown', status: 400 },
    ],
  )
})

test('a blocked log pipe does not stop the service', async (t) => {
  const { served } = await serveWithKey(t, { env: { LOG_LEVEL: 'debug' } })
  served.stopReading()
  // A pipe holds 64 kB, which is about 500 lines.
  for (let count = 0; count < 1_000; count += 1)
    assert.equal((await ask(served.port, { path: '/health' })).status, 200)
})

test('at info the log has events and faults but no requests', async (t) => {
  const { program, served, key } = await serveWithKey(t, {})
  await served.written(/no account yet/)
  await ask(served.port, { path: '/health' })
  const database = new DatabaseSync(program.databasePath)
  database.exec('ALTER TABLE servers RENAME TO away')
  const answers = await Promise.all([ask(served.port, { key }), ask(served.port, { key })])
  for (const { status } of answers) assert.equal(status, 502)
  database.exec('ALTER TABLE away RENAME TO servers')
  database.close()

  const [listening, dashboard, health, place, setup, fault, ...rest] = logLines(await stop(served))
  assert.match(String(listening?.msg), /^listening on/)
  assert.match(String(dashboard?.msg), /^dashboard at/)
  assert.match(String(health?.msg), /^health and metrics at http:/)
  assert.equal(place?.msg, `database: ${program.databasePath}`)
  assert.match(String(setup?.msg), /^no account yet/)
  assert.deepEqual(
    { ...fault, time: null, fault_id: null },
    {
      level: 'error',
      time: null,
      fault: 'ListFault',
      fault_id: null,
      reason: 'the servers could not be read',
      cause: 'no such table: servers',
      msg: 'fault',
    },
  )
  // Both answers lead to the line, which is one of its kind per second.
  assert.match(String(fault?.fault_id), /^[0-9a-f]{12}$/)
  assert.deepEqual(
    new Set(answers.map(({ headers }) => headers['x-request-id'])),
    new Set([`${String(fault?.fault_id)}-1`, `${String(fault?.fault_id)}-2`]),
  )
  assert.deepEqual(
    rest.map((line) => line.msg),
    ['closing: SIGTERM', 'closed'],
  )
})

test('LOG_LEVEL=silent writes nothing', async (t) => {
  // It logs nothing when it listens, so it signals itself once it handles the signal.
  const preload = `const timer = setInterval(() => {
    if (process.listenerCount('SIGTERM') === 0) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 10)`
  const options = { env: { LOG_LEVEL: 'silent' }, preload }
  const { code, stdout, stderr } = await programIn(t).begin('serve', options).ended
  assert.deepEqual([code, stdout, stderr], [0, '', ''])
})

test('on a terminal the log is readable, and colored unless NO_COLOR is set', async (t) => {
  const program = programIn(t)
  // Simulates a terminal, so that the test needs none.
  const preload = 'process.stdout.isTTY = true'
  const color = '\u001b['
  const shown = await stop(await program.serve({ preload, env: { FORCE_COLOR: '1' } }))
  assert.match(shown, /listening on http:\/\/127\.0\.0\.1:\d+/)
  assert.ok(shown.includes('closed') && shown.includes(color) && !shown.includes('{'))

  const env = { FORCE_COLOR: '1', NO_COLOR: '1' }
  const plain = await stop(await program.serve({ preload, env }))
  assert.match(plain, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: listening on/)
  assert.match(plain, /INFO: closing: SIGTERM\n.*INFO: closed\n$/)
  assert.ok(!plain.includes(color))
})

test("while the log can't be written the service continues, and the lines follow later", async (t) => {
  // Simulates a full disk while a file called `full` exists.
  const preload = `import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { write } = fs
    fs.write = (fd, ...rest) => {
      if (fd !== 1 || !fs.existsSync('full')) return write(fd, ...rest)
      setImmediate(rest.at(-1), Object.assign(new Error(), { code: 'ENOSPC' }))
    }
    syncBuiltinESMExports()`
  const program = programIn(t)
  const served = await program.serve({ env: { LOG_LEVEL: 'debug' }, preload })
  await served.written(/no account yet/)
  const full = join(program.folder, 'full')
  writeFileSync(full, '')
  for (const path of ['/', '/health']) assert.equal((await ask(served.port, { path })).status, 200)
  assert.equal(logLines(served.stdout()).length, 5)
  rmSync(full)
  assert.equal((await ask(served.port, { path: '/no' })).status, 404)

  const lines = logLines(await stop(served))
  assert.deepEqual(
    lines.map(({ status, msg }) => status ?? String(msg).split(' ')[0]),
    ['listening', 'dashboard', 'health', 'database:', 'no', 200, 200, 404, 'closing:', 'closed'],
  )
})

test('the log names BASE_URL if it is set', async (t) => {
  const env = { BASE_URL: 'https://api.example.com/' }
  const served = await programIn(t).serve({ env })
  assert.match(served.stdout(), /:\d+, public URL https:\/\/api\.example\.com"/)
})

test('a fault of every batch is one line per second, which counts the omitted ones', async (t) => {
  const { program, served, key } = await serveWithKey(t, {})
  const database = new DatabaseSync(program.databasePath)
  t.after(() => database.close())
  database.exec('ALTER TABLE servers RENAME TO away')
  const askThrice = async () => {
    for (let count = 0; count < 3; count += 1)
      assert.equal((await ask(served.port, { key })).status, 502)
  }
  await askThrice()
  await delay(1_100)
  await askThrice()
  const lines = logLines(await stop(served)).filter(({ fault }) => fault === 'ListFault')
  assert.equal(lines.length, 2)
  assert.equal(lines[1]!.left_out, 2)
})

test('one fault that all requests meet is one line, which all of them name', async (t) => {
  const served = await programIn(t).serve({ env: { DATABASE_URL: 'nonsense' } })
  const ids: string[] = []
  for (const pauseMs of [0, 1_100]) {
    await delay(pauseMs)
    ids.push(String((await ask(served.port, { key: 'svc_live_0' })).headers['x-request-id']))
  }
  const faults = logLines(await stop(served)).filter(({ fault }) => fault === 'NotConfigured')
  assert.deepEqual(
    ids,
    [1, 2].map((number) => `${String(faults[0]?.fault_id)}-${number}`),
  )
  assert.equal(faults.length, 1)
})
