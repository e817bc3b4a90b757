import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ask } from '../../fixtures/requests.ts'
import { addAdaWithKey } from '../ada.ts'
import { logLines, type Program, programIn } from '../program.ts'
import { once } from '../../fixtures/within.ts'

/** A key, and a transaction of another process that makes its requests wait. */
async function withWaiting(t: TestContext) {
  const program = programIn(t)
  const { key } = await addAdaWithKey(program)
  const served = await program.serve()
  const lock = hold(t, program)
  const answer = ask(served.port, { key }).then(
    ({ status }) => status,
    () => null,
  )
  // This answer proves that the earlier request has arrived.
  await ask(served.port, { path: '/health' })
  return { served, lock, answer }
}

function hold(t: TestContext, program: Program): DatabaseSync {
  // The service may still be writing the secret of its setup link.
  const lock = new DatabaseSync(program.databasePath, { timeout: 10_000 })
  t.after(() => {
    if (lock.isOpen) lock.close()
  })
  lock.exec('BEGIN IMMEDIATE')
  return lock
}

test('SIGTERM and SIGINT answer open requests and then exit with 0', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { served, lock, answer } = await withWaiting(t)
    const since = performance.now()
    served.kill(signal)
    await served.written(new RegExp(`closing: ${signal}`))
    lock.exec('ROLLBACK')
    assert.equal(await answer, 200)
    const { code, stdout, stderr } = await served.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(logLines(stdout).at(-1)?.msg, 'closed')
    assert.ok(performance.now() - since < 10_000)
  }
})

test('an idle connection does not delay the shutdown', async (t) => {
  const served = await programIn(t).serve()
  const idle = connect(served.port, '127.0.0.1')
  t.after(() => idle.destroy())
  idle.write('GET /health HTTP/1.1\r\nHost: test\r\n\r\n')
  await once(idle, 'data')
  const since = performance.now()
  served.kill('SIGTERM')
  assert.equal((await served.ended).code, 0)
  assert.ok(performance.now() - since < 5_000)
})

test('a draining process fails /readyz, and still answers new connections', async (t) => {
  const program = programIn(t)
  const { key } = await addAdaWithKey(program)
  const served = await program.serve({ env: { DRAIN_SECONDS: '60' } })
  await served.written(/metrics at/)
  const opsPort = Number(/metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
  served.kill('SIGTERM')
  await served.written(/closing: SIGTERM/)
  const { status, body } = await ask(opsPort, { path: '/readyz' })
  assert.deepEqual(
    [status, JSON.parse(body).checks.shutdown],
    [503, 'the service is shutting down'],
  )
  assert.equal((await ask(served.port, { key })).status, 200)
  // The operator need not wait.
  served.kill('SIGTERM')
  assert.equal((await served.ended).code, 1)
})

test('after draining, the process ends like any other', async (t) => {
  const served = await programIn(t).serve({ env: { DRAIN_SECONDS: '1' } })
  const since = performance.now()
  served.kill('SIGTERM')
  const { code, stdout } = await served.ended
  assert.deepEqual([code, logLines(stdout).at(-1)?.msg], [0, 'closed'])
  assert.ok(performance.now() - since >= 1_000)
})

test('a second signal ends the process at once, and the log says so', async (t) => {
  const { served } = await withWaiting(t)
  served.kill('SIGTERM')
  await served.written(/closing: SIGTERM/)
  served.kill('SIGTERM')
  const { code, stdout } = await served.ended
  assert.equal(code, 1)
  assert.match(String(logLines(stdout).at(-1)?.msg), /second signal/)
})

test('after kill -9 the next start keeps every claim, and grants none within its second', async (t) => {
  const program = programIn(t)
  const { key } = await addAdaWithKey(program)
  const killed = await program.serve()
  const since = Date.now()
  const asked = performance.now()
  assert.equal((await ask(killed.port, { key })).status, 200)
  killed.kill('SIGKILL')
  assert.equal((await killed.ended).signal, 'SIGKILL')
  const [apiKey] = JSON.parse(await program.done('key list --user ada@example.com --json'))
  assert.ok(Date.parse(apiKey.last_used_at) >= since, apiKey.last_used_at)

  const started = await program.serve()
  assert.equal((await ask(started.port, { key })).status, 200)
  assert.ok(performance.now() - asked >= 1_000)
})
