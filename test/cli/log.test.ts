import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ask } from '../fixtures/requests.ts'
import { logLines, type Program, programIn, type RunOptions, type Served } from './program.ts'

async function serveWithKey(
  t: TestContext,
  options: RunOptions,
): Promise<{ program: Program; served: Served; key: string; apiKeyId: string }> {
  const program = programIn(t)
  await program.done('user add ada@example.com')
  const key = await program.done('key issue --user ada@example.com --name bot')
  const [apiKey] = JSON.parse(await program.done('key list --user ada@example.com --json'))
  return { program, served: await program.serve(options), key, apiKeyId: apiKey.id }
}

async function stop(served: Served): Promise<string> {
  served.kill('SIGTERM')
  return (await served.ended).stdout
}

test('at debug every request is a line of the fields that are allowed', async (t) => {
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

test('a pipe that nobody reads stops no answer', async (t) => {
  const { served } = await serveWithKey(t, { env: { LOG_LEVEL: 'debug' } })
  served.stopReading()
  // A pipe holds 64 kB, some 500 lines.
  for (let count = 0; count < 3_000; count += 1)
    assert.equal((await ask(served.port, { path: '/health' })).status, 200)
})

test('at info there are events and faults, and no requests', async (t) => {
  const { program, served, key } = await serveWithKey(t, {})
  await ask(served.port, { path: '/health' })
  const database = new DatabaseSync(program.databasePath)
  database.exec('ALTER TABLE servers RENAME TO away')
  const answers = await Promise.all([ask(served.port, { key }), ask(served.port, { key })])
  for (const { status } of answers) assert.equal(status, 502)
  database.exec('ALTER TABLE away RENAME TO servers')
  database.close()

  const [listening, dashboard, fault, ...rest] = logLines(await stop(served))
  assert.match(String(listening?.msg), /^listening on/)
  assert.match(String(dashboard?.msg), /^dashboard at/)
  assert.deepEqual(
    { ...fault, time: null },
    {
      level: 'error',
      time: null,
      fault: 'ListFault',
      reason: 'the servers could not be read',
      cause: 'no such table: servers',
      msg: 'fault',
    },
  )
  // Of one kind there is one a second.
  assert.deepEqual(
    rest.map((line) => line.msg),
    ['closing: SIGTERM', 'closed'],
  )
})

test('LOG_LEVEL=silent is silent', async (t) => {
  // It does not say when it listens, so it ends itself once it knows what to do with the signal.
  const preload = `const timer = setInterval(() => {
    if (process.listenerCount('SIGTERM') === 0) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 10)`
  const options = { env: { LOG_LEVEL: 'silent' }, preload }
  const { code, stdout, stderr } = await programIn(t).run('serve', options)
  assert.deepEqual([code, stdout, stderr], [0, '', ''])
})

test('on a terminal the lines are for people, in colours unless NO_COLOR is set', async (t) => {
  const program = programIn(t)
  // To the program this is what a terminal is; none has to be there to run the test.
  const preload = 'process.stdout.isTTY = true'
  const colour = '\u001b['
  const shown = await stop(await program.serve({ preload, env: { FORCE_COLOR: '1' } }))
  assert.match(shown, /listening on http:\/\/127\.0\.0\.1:\d+/)
  assert.ok(shown.includes('closed') && shown.includes(colour) && !shown.includes('{'))

  const env = { FORCE_COLOR: '1', NO_COLOR: '1' }
  const plain = await stop(await program.serve({ preload, env }))
  assert.match(plain, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: listening on/)
  assert.match(plain, /INFO: closing: SIGTERM\n.*INFO: closed\n$/)
  assert.ok(!plain.includes(colour))
})

test('while the log cannot be written the service goes on, and the lines come later', async (t) => {
  // What a full disk does to a write, for as long as there is a file called full.
  const preload = `import fs from 'node:fs'
    const { write } = fs
    fs.write = (fd, ...rest) => {
      if (fd !== 1 || !fs.existsSync('full')) return write(fd, ...rest)
      setImmediate(rest.at(-1), Object.assign(new Error(), { code: 'ENOSPC' }))
    }`
  const program = programIn(t)
  const served = await program.serve({ env: { LOG_LEVEL: 'debug' }, preload })
  await served.written(/nobody has an account yet/)
  const full = join(program.folder, 'full')
  writeFileSync(full, '')
  for (const path of ['/', '/health']) assert.equal((await ask(served.port, { path })).status, 200)
  assert.equal(logLines(served.stdout()).length, 3)
  rmSync(full)
  assert.equal((await ask(served.port, { path: '/no' })).status, 404)

  const lines = logLines(await stop(served))
  assert.deepEqual(
    lines.map(({ status, msg }) => status ?? String(msg).split(' ')[0]),
    ['listening', 'dashboard', 'nobody', 200, 200, 404, 'closing:', 'closed'],
  )
})

test('BASE_URL is said where it is set', async (t) => {
  const env = { BASE_URL: 'https://api.example.com/' }
  const served = await programIn(t).serve({ env })
  assert.match(served.stdout(), /:\d+, reached by the public at https:\/\/api\.example\.com"/)
})
