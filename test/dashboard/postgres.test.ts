import { after, before } from 'node:test'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { postgresDatabase } from '../fixtures/postgres-config.ts'
import { dashboardSuite } from './suite.ts'

let cluster: Cluster

before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

dashboardSuite('PostgreSQL', () => postgresDatabase(cluster))
