import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
import { sqliteDatabase } from '../fixtures/dashboard.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { startTestService } from '../fixtures/service.ts'
import { type ApiScene, disturbedRequests } from './api.ts'
import { makePasswordsCheap } from '../fixtures/cheap-passwords.ts'
import { type CommandScene, disturbedCommands, disturbedMigration } from './commands.ts'
import { disturbedVisits } from './dashboard.ts'
import { noSqliteFile } from './empty-database.ts'
import { type SqliteDisturbance, trapSqlite } from './sqlite-driver.ts'
import { disturbedStore, type StoreScene } from './store.ts'
import { sqliteTables } from './tables.ts'

/** Which of a surface's calls are disturbed, and how. */
export type Plan<D> = Record<
  'requests' | 'reading' | 'changing' | 'password' | 'commands' | 'migrate',
  readonly D[]
>

export function sqliteSuite(plan: Plan<SqliteDisturbance>): void {
  makePasswordsCheap()
  const trap = trapSqlite()
  disturbedRequests(openApi, trap, plan.requests)
  disturbedVisits(sqliteDatabase, trap, plan)
  disturbedStore(openStore, trap, plan.changing)
  disturbedCommands(openCommands, trap, plan.commands)
  disturbedMigration(openNothing, trap, plan.migrate)
}

async function openApi(t: TestContext): Promise<ApiScene> {
  const { port, store, clock } = await startTestService(t)
  return { port, store, elapse: async (milliseconds) => clock.elapse(milliseconds) }
}

async function openStore(t: TestContext): Promise<StoreScene> {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  t.after(store.close)
  return { store, tables: async () => sqliteTables(path) }
}

async function openCommands(t: TestContext): Promise<CommandScene> {
  const path = join(temporaryFolder(t), 'listing.db')
  return { url: `sqlite:${path}`, tables: async () => sqliteTables(path) }
}

async function openNothing(t: TestContext): Promise<CommandScene> {
  const path = join(temporaryFolder(t), 'listing.db')
  return { url: `sqlite:${path}`, tables: async () => noSqliteFile(path) }
}
