import { after, before, type TestContext } from 'node:test'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { NOW } from '../../fixtures/clock.ts'
import { createClockedDatabase } from '../../fixtures/postgres/clock.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { agreement } from './agreement.ts'
import type { Engine } from './real.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ settings: { fsync: 'off' } })
})
after(() => cluster.remove())

agreement('PostgreSQL', openPostgresEngine, 50)

async function openPostgresEngine(t: TestContext): Promise<Engine> {
  const { url, elapse } = await createClockedDatabase(t, cluster)
  const store = await openServingPostgresStore(url)
  t.after(store.close)
  let now = NOW
  return {
    store,
    now: () => now,
    async elapse(milliseconds) {
      now += Math.round(milliseconds * 1_000)
      await elapse(milliseconds)
    },
    answered: new Map(),
  }
}
