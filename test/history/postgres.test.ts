import { after, before } from 'node:test'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { nemesisTests } from './nemesis-tests.ts'
import { openPostgresBattlefield } from './postgres-battlefield.ts'

/*
 * On PostgreSQL: processes are killed and stopped, sessions ended, the server crashed and restarted, the network cut
 * and silent, rows and tables locked and taken away; and no client ever sees anything that is not promised.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

nemesisTests('PostgreSQL', (t) => openPostgresBattlefield(t, cluster), { ms: 8_000 })
