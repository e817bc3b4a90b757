import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import type { Engine } from './real.ts'

export async function openSqliteEngine(t: Pick<TestContext, 'after'>): Promise<Engine> {
  const clock = manualClock()
  const store = await openServingSqliteStore(join(temporaryFolder(t), 'listing.db'), clock)
  t.after(store.close)
  return {
    store,
    now: clock.present,
    elapse: async (milliseconds) => clock.elapse(milliseconds),
    answered: new Map(),
  }
}
