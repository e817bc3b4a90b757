import type { DatabaseSync } from 'node:sqlite'
import type { Store } from '../listing/store.ts'
import { accounts } from './accounts.ts'
import { apiKeys } from './api-keys.ts'
import { rollBack, whenUnlocked } from './database.ts'
import { invitations } from './invitations.ts'
import { organizations } from './organizations.ts'
import { registeredServers } from './registered-servers.ts'
import { servers } from './servers.ts'
import { signInAttempts } from './sign-in-attempts.ts'
import { users } from './users.ts'

/** What commands and the dashboard ask of a store, on one connection. */
export function management(database: DatabaseSync): Omit<Store, 'close'> {
  return {
    ...users(database),
    ...apiKeys(database),
    ...servers(database),
    ...accounts(database),
    ...signInAttempts(database),
    ...organizations(database),
    ...invitations(database),
    ...registeredServers(database),
  }
}

/**
 * The same methods for the serving process, whose connections do not wait for a lock: each is one transaction, and is
 * tried again where it found the file locked.
 */
export function patiently<Methods extends object>(
  database: DatabaseSync,
  methods: Methods,
): Methods {
  const entries = Object.entries(methods as Record<string, (...args: unknown[]) => unknown>)
  const patient = entries.map(([name, method]) => [
    name,
    (...args: unknown[]) =>
      whenUnlocked(() => {
        rollBack(database)
        return method(...args)
      }),
  ])
  return Object.fromEntries(patient)
}
