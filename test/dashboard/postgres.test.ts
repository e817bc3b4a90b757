import { after, before } from 'node:test'
import { makePasswordsCheap } from '../fixtures/cheap-passwords.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { postgresDatabase } from '../fixtures/postgres-config.ts'
import { dashboardSuite } from './suite.ts'

// What they cost is the same on both engines, and shown on the other one.
makePasswordsCheap()

let cluster: Cluster

before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

dashboardSuite('PostgreSQL', () => postgresDatabase(cluster))
