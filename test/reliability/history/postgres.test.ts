import { after, before } from 'node:test'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { nemesisTests } from './nemesis-tests.ts'
import { openPostgresBattlefield } from './battlefield/postgres-battlefield.ts'

/*
 * On PostgreSQL, faults kill and stop processes, end sessions, crash and restart the server, cut
 * and silence the network, and lock or rename tables and rows. No client may see anything that the
 * service does not promise.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

nemesisTests('PostgreSQL', (t) => openPostgresBattlefield(t, cluster), { ms: 8_000, pauseMs: 300 })
