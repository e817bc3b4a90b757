import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOwner } from '../../fixtures/service.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { ask } from '../../fixtures/requests.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { startCluster } from '../../fixtures/postgres/cluster.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { startTcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { openStore } from '../../postgres/claims/outcomes.ts'
import { programIn } from '../../cli/program.ts'

/** `CLOSE_MS` of `signals.ts`, and what a busy machine needs. */
const STOP_MS = 12_000

test('SIGTERM ends a service in time although PostgreSQL is silent and the disk of its log is full', async (t) => {
  const cluster = await startCluster()
  t.after(() => cluster.remove())
  const url = await createDatabase(cluster)
  const { key } = await addOwner(await openStore(t, url), 'ada@example.com')
  const proxy = await startTcpProxy(cluster.port)
  t.after(proxy.close)
  const through = new URL(url)
  through.port = String(proxy.port)
  for (const output of [undefined, '/dev/full']) {
    proxy.heal()
    const PORT = String(await freePort())
    const options = { env: { DATABASE_URL: through.href, PORT }, ...(output ? { output } : {}) }
    const served = programIn(t).begin('serve', options)
    const status = () => ask(Number(PORT), { key }).then((answer) => answer.status)
    await eventually(async () => (await status().catch(() => 0)) === 200)
    proxy.swallow()
    // These requests wait while the service closes.
    const asked = Promise.allSettled([status(), status()])
    const since = performance.now()
    served.kill('SIGTERM')
    const { code } = await served.ended
    const took = performance.now() - since
    t.diagnostic(`${output ?? 'a pipe'}: exit code ${code} after ${took.toFixed()} ms`)
    assert.ok(took < STOP_MS)
    assert.ok(code === 0 || code === 1, 'it ends by itself')
    await asked
  }
})
