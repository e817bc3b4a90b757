import { suite } from 'node:test'
import { apiKeysContract } from './keys/api-keys.ts'
import { auditContract } from './accounts/audit.ts'
import { emailChangesContract } from './accounts/email-changes.ts'
import { disabledUsersContract } from './accounts/disabled-users.ts'
import { externalIdsContract } from './accounts/external-ids.ts'
import { assertAllCalled } from './called-functions.ts'
import { farInstantsContract } from './far-instants.ts'
import { editingContract } from './servers/edited-servers.ts'
import { firstUserContract } from './accounts/first-user.ts'
import type { OpenFixture } from './fixture.ts'
import { healthContract } from './health.ts'
import { importsContract } from './servers/imports/imports.ts'
import { identitiesContract } from './accounts/sign-in/identities.ts'
import { keptServersContract } from './accounts/kept-servers.ts'
import { inventoryContract } from './accounts/inventory.ts'
import { listingContract } from './keys/listing.ts'
import { longImportsContract } from './servers/imports/long-imports.ts'
import { managementContract } from './keys/management.ts'
import { addingContract } from './organizations/adding.ts'
import { membersContract } from './organizations/members.ts'
import { operatorContract } from './accounts/operator.ts'
import { unusedKeysContract } from './keys/unused-keys.ts'
import { userSearchContract } from './accounts/user-search.ts'
import { organizationsContract } from './organizations/organizations.ts'
import { passwordsContract } from './accounts/passwords.ts'
import { previewsContract } from './servers/imports/previews.ts'
import { publishedContract } from './servers/published-servers.ts'
import { readingContract } from './servers/read-servers.ts'
import { registeringContract } from './servers/servers.ts'
import { removedUsersContract } from './accounts/removed-users.ts'
import { revocationContract } from './keys/revocation.ts'
import { renamingContract } from './keys/renaming.ts'
import { roundTripsContract } from './servers/round-trips.ts'
import { revokedHashesContract } from './keys/revoked-hashes.ts'
import { schemaContract } from './schema.ts'
import { userRowsContract } from './accounts/user-rows.ts'
import { searchContract, textContract } from './servers/search.ts'
import { serverChangesContract } from './servers/server-changes.ts'
import { matchingServersContract } from './servers/matching-servers.ts'
import { undoneChangesContract } from './servers/undone-changes.ts'
import { sortContract } from './servers/sorting.ts'
import {
  sessionContract,
  sessionActivityContract,
  sessionListContract,
} from './accounts/sessions.ts'
import { signInLinksContract } from './accounts/sign-in/sign-in-links.ts'
import { signInAttemptsContract } from './accounts/sign-in/sign-in-attempts.ts'
import { checkedImportsContract } from './servers/imports/checked-imports.ts'
import { claimContract } from './keys/claim.ts'
import { performContract } from './acts/perform.ts'
import { appliedCasesContract } from './acts/applied-cases.ts'
import { outdatedStatesContract } from './acts/outdated.ts'
import { stateKeysContract } from './acts/keys.ts'
import { namedUsersContract } from './acts/named-users.ts'
import { statesContract } from './acts/states.ts'
import { usageCountsContract } from './keys/usage-counts.ts'
import { usersContract } from './accounts/users.ts'

/** The promises of the store and the records as tests, for each engine. */
export function storeContract(engine: string, open: OpenFixture): void {
  assertAllCalled()
  suite(`${engine}: using a key`, () => claimContract(open))
  suite(`${engine}: revocation`, () => revocationContract(open))
  suite(`${engine}: the listing`, () => listingContract(open))
  suite(`${engine}: instants far away`, () => farInstantsContract(open))
  suite(`${engine}: users, keys and servers`, () => managementContract(open))
  suite(`${engine}: api keys`, () => apiKeysContract(open))
  suite(`${engine}: names and prefixes of keys`, () => renamingContract(open))
  suite(`${engine}: imports`, () => importsContract(open))
  suite(`${engine}: long imports`, () => longImportsContract(open))
  suite(`${engine}: round trips`, () => roundTripsContract(open))
  suite(`${engine}: reading servers`, () => readingContract(open))
  suite(`${engine}: sign-in`, () => sessionContract(open))
  suite(`${engine}: sessions`, () => sessionListContract(open))
  suite(`${engine}: activity of sessions`, () => sessionActivityContract(open))
  suite(`${engine}: passwords`, () => passwordsContract(open))
  suite(`${engine}: email changes`, () => emailChangesContract(open))
  suite(`${engine}: users`, () => usersContract(open))
  suite(`${engine}: disabled users`, () => disabledUsersContract(open))
  suite(`${engine}: external ids`, () => externalIdsContract(open))
  suite(`${engine}: the first user`, () => firstUserContract(open))
  suite(`${engine}: sign-in links`, () => signInLinksContract(open))
  suite(`${engine}: identities`, () => identitiesContract(open))
  suite(`${engine}: attempts to sign in`, () => signInAttemptsContract(open))
  suite(`${engine}: the audit log`, () => auditContract(open))
  suite(`${engine}: the operator's page`, () => operatorContract(open))
  suite(`${engine}: an operator's search for users`, () => userSearchContract(open))
  suite(`${engine}: unused keys`, () => unusedKeysContract(open))
  suite(`${engine}: the operator's lists`, () => inventoryContract(open))
  suite(`${engine}: organizations`, () => organizationsContract(open))
  suite(`${engine}: members`, () => membersContract(open))
  suite(`${engine}: adding members`, () => addingContract(open))
  suite(`${engine}: registering servers`, () => registeringContract(open))
  suite(`${engine}: published servers`, () => publishedContract(open))
  suite(`${engine}: editing servers`, () => editingContract(open))
  suite(`${engine}: changing several servers`, () => serverChangesContract(open))
  suite(`${engine}: changing all that match`, () => matchingServersContract(open))
  suite(`${engine}: undoing changes of servers`, () => undoneChangesContract(open))
  suite(`${engine}: checked imports`, () => checkedImportsContract(open))
  suite(`${engine}: finding servers`, () => searchContract(open))
  suite(`${engine}: sorting and filtering servers`, () => sortContract(open))
  suite(`${engine}: text`, () => textContract(open))
  suite(`${engine}: previews`, () => previewsContract(open))
  suite(`${engine}: removed users`, () => removedUsersContract(open))
  suite(`${engine}: organizations of removed users`, () => keptServersContract(open))
  suite(`${engine}: usage counts`, () => usageCountsContract(open))
  suite(`${engine}: acts of a site`, () => performContract(open))
  suite(`${engine}: declared state`, () => statesContract(open))
  suite(`${engine}: cases of apply`, () => appliedCasesContract(open))
  suite(`${engine}: declared keys`, () => stateKeysContract(open))
  suite(`${engine}: declared users`, () => namedUsersContract(open))
  suite(`${engine}: declared state that is outdated`, () => outdatedStatesContract(open))
  suite(`${engine}: the schema`, () => schemaContract(open))
  suite(`${engine}: the rows of users`, () => userRowsContract(open))
  suite(`${engine}: the list of revoked hashes`, () => revokedHashesContract(open))
  suite(`${engine}: health`, () => healthContract(open))
}
