import type { Store } from '../../../src/database/store.ts'
import { addUser, issueKey } from '../../fixtures/service.ts'

const KEYS_OF_USER = 5

/** Issues this many keys, five for each user. */
export async function addKeys(store: Store, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let number = 0; keys.length < count; number += 1) {
    const user = await addUser(store, `user${number}@example.com`)
    while (keys.length < Math.min(count, (number + 1) * KEYS_OF_USER))
      keys.push((await issueKey(store, user)).key)
  }
  return keys
}
