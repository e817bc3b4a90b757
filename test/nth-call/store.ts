import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Store } from '../../src/listing/store.ts'
import { addUser } from '../fixtures/service.ts'
import { type Operation, sweep } from './sweep.ts'
import type { Tables } from './tables.ts'
import type { Disturbance, Trap } from './trap.ts'

export interface StoreScene {
  store: Store
  tables(): Promise<Tables>
}

/** What the store does for no page and no command alone: it, too, is one transaction. */
export function disturbedStore<D extends Disturbance>(
  open: (t: TestContext) => Promise<StoreScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('store: an organization that is made has its member, or is not made', async (t) => {
    const { store, tables: openTables } = await open(t)
    const user = await addUser(store)
    const tables = await openTables()
    t.after(tables.close)
    await tables.remember()
    const operation: Operation<string | Error> = {
      name: 'ensureOrganization',
      run: () => store.ensureOrganization('red-stone', user.id).catch((error: Error) => error),
      isDone: (result) => typeof result === 'string',
      assertHonest: (result) => assert.ok(result instanceof Error),
    }
    for (const disturbance of disturbances) await sweep(operation, tables, trap, disturbance)
  })
}
