import { after, before } from 'node:test'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { postgresDatabase } from '../fixtures/postgres-config.ts'
import { browserSuite } from './browser-suite.ts'

let cluster: Cluster

before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

browserSuite('PostgreSQL', () => postgresDatabase(cluster))
