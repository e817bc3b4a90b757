import type { ManagementStore } from '../listing/store.ts'
import { apiKeys } from './api-keys.ts'
import { audit } from './accounts/audit.ts'
import { checkedImports } from './servers/checked-imports.ts'
import type { Database } from './database.ts'
import { disabledUsers } from './accounts/disabled-users.ts'
import { emailChanges } from './accounts/email-changes.ts'
import { inventory } from './accounts/inventory.ts'
import { invitations } from './invitations.ts'
import { lastBackup } from './last-backup.ts'
import { operator } from './accounts/operator.ts'
import { organizations } from './organizations.ts'
import { passwords } from './accounts/passwords.ts'
import { publishedServers } from './servers/published-servers.ts'
import { registeredServers } from './servers/registered-servers.ts'
import { revocations } from './revocations.ts'
import { returnedServers } from './servers/returned-servers.ts'
import { secrets } from './accounts/secrets.ts'
import { serverChanges } from './servers/server-changes.ts'
import { serverImports } from './servers/server-imports.ts'
import { serverLists } from './servers/server-lists.ts'
import { signInLinks } from './accounts/sign-in-links.ts'
import { sessionList, sessions } from './accounts/sessions.ts'
import { signInAttempts } from './accounts/sign-in-attempts.ts'
import { states } from './state/states.ts'
import { users } from './accounts/users.ts'

/** All operations of `ManagementStore`, on an engine's connection. */
export function createManagement(database: Database): ManagementStore {
  return {
    ...apiKeys(database),
    ...audit(database),
    ...inventory(database),
    ...invitations(database),
    ...lastBackup(database),
    ...operator(database),
    ...organizations(database),
    ...publishedServers(database),
    ...registeredServers(database),
    ...returnedServers(database),
    ...revocations(database),
    ...serverChanges(database),
    ...serverImports(database),
    ...checkedImports(database),
    ...serverLists(database),
    ...users(database),
    ...signInAttempts(database),
    ...disabledUsers(database),
    ...emailChanges(database),
    ...passwords(database),
    ...secrets(database),
    ...sessions(database),
    ...signInLinks(database),
    ...sessionList(database),
    ...states(database),
  }
}
