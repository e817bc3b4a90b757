import type { AddressedUser } from '../../src/accounts/user.ts'
import type { Store } from '../../src/database/store.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { addUser, issueKey } from '../fixtures/service.ts'
import type { Commands } from './command.ts'

/*
 * What a test of a command needs in the database before it begins.
 */

/** Adds ada@example.com and creates the database. */
export function addAda(program: Commands): Promise<AddressedUser> {
  return withStore(program, (store) => addUser(store))
}

/** Adds ada@example.com with a key called "bot". */
export async function addAdaWithKey(program: Commands): Promise<{ key: string; id: string }> {
  const [issued] = await addAdaWithKeys(program, 1)
  return issued!
}

/** Adds ada@example.com with this many keys, each called "bot". */
export function addAdaWithKeys(
  program: Commands,
  count: number,
): Promise<{ key: string; id: string }[]> {
  return withStore(program, async (store) => {
    const user = await addUser(store)
    const issued = []
    for (let number = 0; number < count; number += 1) issued.push(await issueKey(store, user))
    return issued
  })
}

async function withStore<T>(
  { databasePath }: Commands,
  body: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openSqliteStore(databasePath, { create: true })
  try {
    return await body(store)
  } finally {
    await store.close()
  }
}
