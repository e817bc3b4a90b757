import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { eventually } from '../../fixtures/eventually.ts'
import { ask } from '../../fixtures/requests.ts'
import { logLines, programIn } from '../program.ts'
import { once } from '../../fixtures/within.ts'

/*
 * The service ends as it should, although its log can't be written.
 */

/** Sends signals to its own process, as soon as it handles them: its log says nothing. */
const signalItself = (...signals: NodeJS.Signals[]) => `const timer = setInterval(() => {
    if (process.listenerCount('SIGTERM') === 0) return
    process.kill(process.pid, ${JSON.stringify(signals)}[timer.sent ?? 0])
    timer.sent = (timer.sent ?? 0) + 1
    if (timer.sent === ${signals.length}) clearInterval(timer)
  }, 50)`

const FULL = { output: '/dev/full' }

test('SIGTERM and SIGINT end a service whose log is on a full disk, with 0', async (t) => {
  const program = programIn(t)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    for (const LOG_LEVEL of ['info', 'debug']) {
      const since = performance.now()
      const options = { ...FULL, preload: signalItself(signal), env: { LOG_LEVEL } }
      const { code, stderr } = await program.begin('serve', options).ended
      assert.deepEqual([code, stderr], [0, ''])
      assert.ok(performance.now() - since < 8_000, signal)
    }
})

test('a second signal ends a service whose log is on a full disk, with 1', async (t) => {
  const preload = signalItself('SIGTERM', 'SIGTERM')
  const options = { ...FULL, preload, env: { DRAIN_SECONDS: '60' } }
  assert.equal((await programIn(t).begin('serve', options).ended).code, 1)
})

test('a start that fails ends, although its log is on a full disk', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  // The limit of files makes it log a warning first.
  const options = { ...FULL, openFilesMax: 200, env: { PORT: String(port) } }
  const { code, stderr } = await programIn(t).begin('serve', options).ended
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`^error: .*${port}`))
})

test('a service whose log lost its reader serves on, and ends with 0', async (t) => {
  const served = await programIn(t).serve({ env: { LOG_LEVEL: 'debug' } })
  served.leave()
  for (let count = 0; count < 3; count += 1)
    assert.equal((await ask(served.port, { path: '/health' })).status, 200)
  served.kill('SIGTERM')
  const { code, stderr } = await served.ended
  assert.deepEqual([code, stderr], [0, ''])
})

test('SIGTERM ends a service whose log nothing reads, and a late reader gets what fits', async (t) => {
  const served = await programIn(t).serve({ env: { LOG_LEVEL: 'debug' } })
  served.stopReading()
  // A pipe holds 64 kB, which is about 500 lines.
  for (let count = 0; count < 1_000; count += 1) await ask(served.port, { path: '/health' })
  served.kill('SIGTERM')
  await eventually(async () => {
    try {
      return !process.kill(served.pid, 0)
    } catch {
      return true
    }
  })
  served.continueReading()
  const { code, stdout } = await served.ended
  assert.equal(code, 0)
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1)
  assert.ok(logLines(whole).length > 400)
})
