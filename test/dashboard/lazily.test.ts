import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { programIn } from '../cli/program.ts'
import { ask } from '../fixtures/requests.ts'

test('the service prints a setup link that works once, and loads the dashboard when somebody comes', async (t) => {
  const program = programIn(t)
  const served = await program.serve()
  await served.written(/nobody has an account yet/)
  const link = /http:\/\/127\.0\.0\.1:(\d+)(\/setup\/[0-9a-f]{32})/.exec(served.stdout())
  const [, port, path = ''] = link ?? []
  const before = megabytesOf(served.pid)
  const { status, body } = await ask(Number(port), { path })
  assert.deepEqual([status, /Make the first one/.test(body)], [200, true])
  const after = megabytesOf(served.pid)
  t.diagnostic(`${before} MB before, ${after} MB after`)
  assert.ok(after - before > 15, 'it was loaded already')

  await program.done('user add ada@example.com')
  assert.equal((await ask(Number(port), { path })).status, 404)
})

/** What the system holds in memory for a process. */
function megabytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024)
}
