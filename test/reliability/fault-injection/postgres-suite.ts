import { after, before, type TestContext } from 'node:test'
import { createAnswer } from '../../../src/api/answer.ts'
import { refusal } from '../../../src/api/responses.ts'
import { listen } from '../../../src/http/listen.ts'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { createClockedDatabase } from '../../fixtures/postgres/clock.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { postgresDatabase } from '../../fixtures/postgres/config.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { type ApiScene, disturbedRequests } from './scenes/api.ts'
import { makePasswordsCheap } from '../../fixtures/passwords/cheap-passwords.ts'
import { type CommandScene, disturbedCommands, disturbedMigration } from './scenes/commands.ts'
import { disturbedVisits } from './scenes/dashboard.ts'
import { emptyPostgresDatabase } from './scenes/empty-database.ts'
import { disturbedPairs } from './pairs.ts'
import { type PostgresDisturbance, REFUSED, trapPostgres } from './postgres-driver.ts'
import type { Plan } from './sqlite-suite.ts'
import { disturbedStore, type StoreScene } from './scenes/store.ts'
import { postgresTables } from './tables.ts'

export function postgresSuite(plan: Plan<PostgresDisturbance>): void {
  makePasswordsCheap()
  const trap = trapPostgres()
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster({ settings: { fsync: 'off' } })
  })
  after(() => cluster.remove())

  disturbedRequests(openApi, trap, plan.requests, isOfList)
  disturbedVisits(() => postgresDatabase(cluster), trap, plan)
  disturbedPairs(() => postgresDatabase(cluster), trap, plan.pairs)
  disturbedStore(openStore, trap, plan.changing)
  disturbedCommands(openCommands, trap, plan.commands)
  disturbedMigration(openNothing, trap, plan.migrate)

  async function openApi(t: TestContext): Promise<ApiScene> {
    const { url, elapse } = await createClockedDatabase(t, cluster)
    const store = await openServingPostgresStore(url)
    const answer = createAnswer({ store, onFault() {} })
    const listener = await listen({ answer, refuse: refusal, observe() {} }, '127.0.0.1', 0)
    t.after(async () => {
      await listener.close()
      await store.close()
    })
    return { port: listener.port, store, elapse }
  }

  async function openStore(t: TestContext): Promise<StoreScene> {
    const url = await createMigratedDatabase(cluster)
    const store = await openServingPostgresStore(url)
    t.after(store.close)
    return { store, tables: () => postgresTables(url) }
  }

  async function openCommands(): Promise<CommandScene> {
    const url = await createDatabase(cluster)
    return { url, tables: () => postgresTables(url) }
  }

  async function openNothing(): Promise<CommandScene> {
    const url = await createDatabase(cluster)
    return { url, tables: () => emptyPostgresDatabase(url) }
  }
}

/**
 * If only the statement is rejected, the keys can still be read. Without a connection nothing can.
 */
function isOfList(disturbance: PostgresDisturbance, statement: string): boolean {
  return disturbance === REFUSED && /FROM servers/.test(statement)
}
