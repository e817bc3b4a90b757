import { type Cluster, startCluster } from '../fixtures/postgres/cluster.ts'

/*
 * One PostgreSQL server for all files of a run that do not stop or change the server. Otherwise
 * each of them would start its own.
 */

/** Limits the log of the many databases that tests create, because it may be in memory. */
const SETTINGS = { max_wal_size: '128MB' }

let cluster: Cluster | undefined

export async function globalSetup(): Promise<void> {
  cluster = await startCluster({ settings: SETTINGS })
  process.env.SHARED_CLUSTER_PORT = String(cluster.port)
  // Clusters of single files use the same programs and need no copy of their own.
  process.env.POSTGRES_BIN ??= cluster.binaries
}

export async function globalTeardown(): Promise<void> {
  await cluster?.remove()
}
