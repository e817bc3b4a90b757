import { after, before, suite } from 'node:test'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { openPostgresBattlefield } from '../../history/battlefield/postgres-battlefield.ts'
import { stayingTests } from '../../history/staying-tests.ts'

/*
 * One fault stays on PostgreSQL for thirty seconds. All that it does not touch works without a
 * failure: each key gets a 200 at least every one and a half seconds.
 */

const FAULTS = [
  'row locked',
  "an owner's rows locked",
  'writers of lists locked out',
  'a transaction left open',
  'process stopped',
  'network silent',
]

/** Each test has three services, which start at once. */
const AT_A_TIME = 2

suite('PostgreSQL', { concurrency: AT_A_TIME }, () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster({ settings: { max_connections: '200' } })
  })
  after(() => cluster.remove())

  stayingTests(FAULTS, (t) => openPostgresBattlefield(t, cluster), 30_000)
})
