import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Store } from '../../../../src/database/store.ts'
import { addUser } from '../../../fixtures/service.ts'
import { type Operation, sweep } from '../sweep.ts'
import type { Tables } from '../tables.ts'
import type { Disturbance, Trap } from '../trap.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { presentInstant } from '../../../../src/model/instant.ts'
import { recordsOf } from '../../../fixtures/records.ts'

export interface StoreScene {
  store: Store
  tables(): Promise<Tables>
}

/** A method of the store that several pages and commands use. It is one transaction, too. */
export function disturbedStore<D extends Disturbance>(
  open: (t: TestContext) => Promise<StoreScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('store: a new organization has its member, or does not exist', async (t) => {
    const { store, tables: openTables } = await open(t)
    const user = await addUser(store)
    const tables = await openTables()
    t.after(tables.close)
    await tables.remember()
    const operation: Operation<string | Error> = {
      name: 'ensureOrganization',
      run: () =>
        recordsOf(store)
          .ensureOrganization('red-stone', user.id, operatorAt(presentInstant()))
          .catch((error: Error) => error),
      isDone: (result) => typeof result === 'string',
      assertHonest: (result) => assert.ok(result instanceof Error),
    }
    for (const disturbance of disturbances) await sweep(operation, tables, trap, disturbance)
  })
}
