import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logLines, programIn } from '../../cli/program.ts'
import { startCluster } from '../../fixtures/postgres/cluster.ts'

test('the setup link is printed as soon as a missing database is back', async (t) => {
  const cluster = await startCluster()
  t.after(() => cluster.remove())
  await cluster.stop('fast')
  const served = await programIn(t).serve({ env: { DATABASE_URL: cluster.url() } })
  await served.written(/dashboard at/)
  await served.written(/"fault"/)
  assert.doesNotMatch(served.stdout(), /setup/)
  await cluster.start()
  await served.written(/the database is back after/)
  await served.written(/setup\/[0-9a-f]{32}/)

  const [, link = ''] = /(http:\S+\/setup\/[0-9a-f]{32})/.exec(served.stdout()) ?? []
  const page = await fetch(link)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /Create the first account/)
  const faults = logLines(served.stdout()).filter(({ level }) => level === 'error')
  assert.ok(faults.length <= 2, served.stdout())
  assert.deepEqual(
    faults.filter(({ stack }) => stack !== undefined),
    [],
  )
})

test('a service that still waits for its database stops at once', async (t) => {
  const cluster = await startCluster()
  t.after(() => cluster.remove())
  await cluster.stop('fast')
  const served = await programIn(t).serve({ env: { DATABASE_URL: cluster.url() } })
  await served.written(/"fault"/)
  served.kill('SIGTERM')
  const { code, stdout } = await served.ended
  assert.equal(code, 0)
  assert.equal(logLines(stdout).at(-1)?.msg, 'closed')
})
