import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { eventually } from '../../fixtures/eventually.ts'
import { ask } from '../../fixtures/requests.ts'
import { logLines, programIn, type Served } from '../program.ts'

function warningsOf(served: Served): string[] {
  const warnings = logLines(served.stdout()).filter(({ level }) => level === 'warn')
  return warnings.map(({ msg }) => String(msg))
}

test('serve warns once about a limit of open files that is too low', async (t) => {
  const served = await programIn(t).serve({ openFilesMax: 11_149 })
  await served.written(/setup/)
  const [warning = '', ...rest] = warningsOf(served)
  assert.deepEqual(rest, [])
  for (const part of ['may open 11149 files', 'needs up to 11150', '10000 connections to the API'])
    assert.ok(warning.includes(part), warning)
  assert.match(warning, /1000 to the dashboard.*LimitNOFILE=11150.*`ulimit -n 11150`/)
})

test('serve does not warn if the limit of open files suffices', async (t) => {
  const served = await programIn(t).serve({ openFilesMax: 11_150 })
  await served.written(/setup/)
  assert.deepEqual(warningsOf(served), [])
})

test('a service that runs out of files has warned, and answers again when clients have left', async (t) => {
  const served = await programIn(t).serve({ openFilesMax: 100 })
  assert.equal(warningsOf(served).length, 1)
  const sockets = Array.from({ length: 200 }, () => connect(served.port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => {})
  await assert.rejects(
    eventually(async () => (await ask(served.port, { path: '/health' })).status !== 200),
    /ECONNRESET|socket hang up/,
  )
  for (const socket of sockets) socket.destroy()
  await eventually(() =>
    ask(served.port, { path: '/health' }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})
