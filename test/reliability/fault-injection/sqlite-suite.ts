import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { sqliteDatabase } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { startTestService } from '../../fixtures/service.ts'
import { type ApiScene, disturbedRequests } from './scenes/api.ts'
import { makePasswordsCheap } from '../../fixtures/passwords/cheap-passwords.ts'
import {
  type CommandScene,
  disturbedCommands,
  disturbedMigration,
  disturbedRestore,
} from './scenes/commands.ts'
import { disturbedVisits } from './scenes/dashboard.ts'
import { noSqliteFile } from './scenes/empty-database.ts'
import { disturbedPairs, type PairsPlan } from './pairs.ts'
import { type SqliteDisturbance, trapSqlite } from './sqlite-driver.ts'
import { disturbedStore, type StoreScene } from './scenes/store.ts'
import { sqliteFile, sqliteTables } from './tables.ts'

/** The faults for the calls of each surface. */
export type Plan<D> = Record<
  'requests' | 'reading' | 'changing' | 'password' | 'commands' | 'migrate',
  readonly D[]
> & { pairs: PairsPlan<D> }

type SqlitePlan = Plan<SqliteDisturbance> & {
  restore: { disturbances: readonly SqliteDisturbance[]; stride: number }
}

export function sqliteSuite(plan: SqlitePlan): void {
  makePasswordsCheap()
  const trap = trapSqlite()
  disturbedRequests(openApi, trap, plan.requests, isOfList)
  disturbedVisits(sqliteDatabase, trap, plan)
  disturbedPairs(sqliteDatabase, trap, plan.pairs)
  disturbedStore(openStore, trap, plan.changing)
  disturbedCommands(openCommands, trap, plan.commands)
  disturbedRestore(openFile, trap, plan.restore.disturbances, plan.restore.stride)
  disturbedMigration(openNothing, trap, plan.migrate)
}

/** A disk that keeps failing rejects the commit, too. */
function isOfList({ lasts }: SqliteDisturbance, statement: string): boolean {
  return lasts !== true && /FROM servers/.test(statement)
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

async function openFile(t: TestContext): Promise<CommandScene> {
  const path = join(temporaryFolder(t), 'listing.db')
  return { url: `sqlite:${path}`, tables: async () => sqliteFile(path) }
}

async function openNothing(t: TestContext): Promise<CommandScene> {
  const path = join(temporaryFolder(t), 'listing.db')
  return { url: `sqlite:${path}`, tables: async () => noSqliteFile(path) }
}
