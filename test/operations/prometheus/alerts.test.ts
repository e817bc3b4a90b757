import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programIn } from '../../cli/program.ts'
import { startCluster } from '../../fixtures/postgres/cluster.ts'
import { type Notice, startAlerting } from './alerting.ts'

const READY = 'server_listing_ready{job="server-listing"}'
const ALERT = 'ServerListingNotReady'

test('an outage of PostgreSQL is an alert at a receiver, and ends there', async (t) => {
  const cluster = await startCluster()
  t.after(() => cluster.remove())
  const served = await programIn(t).serve({ env: { DATABASE_URL: cluster.url() } })
  await served.written(/metrics at http/)
  const [, port] = /metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout()) ?? []
  const alerting = await startAlerting(t, Number(port))
  await alerting.shows(READY, 1)
  assert.deepEqual(ofAlert(alerting.notices), [])

  await cluster.stop('fast')
  await alerting.noticed((notices) => ofAlert(notices).at(-1)?.status === 'firing')
  const [first] = ofAlert(alerting.notices)
  assert.match(first!.summary, /^127\.0\.0\.1:\d+ runs, but answers no request with a key/)
  await alerting.shows(READY, 0)
  assert.match(served.stdout(), /the database is lost, so every key gets 502/)

  await cluster.start()
  await alerting.noticed((notices) => ofAlert(notices).at(-1)?.status === 'resolved')
  await alerting.shows(READY, 1)
  assert.match(served.stdout(), /the database is back after/)
})

function ofAlert(notices: readonly Notice[]): Notice[] {
  return notices.filter(({ name }) => name === ALERT)
}
