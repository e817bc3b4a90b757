import { suite } from 'node:test'
import type { OpenFixture } from './fixture.ts'
import { listingContract } from './listing.ts'
import { managementContract } from './management.ts'
import { revocationContract } from './revocation.ts'
import { useApiKeyContract } from './use-api-key.ts'

/** What every engine promises: the comments of `listing/store.ts`, as tests. */
export function storeContract(engine: string, open: OpenFixture): void {
  suite(`${engine}: using a key`, () => useApiKeyContract(open))
  suite(`${engine}: revocation`, () => revocationContract(open))
  suite(`${engine}: the listing`, () => listingContract(open))
  suite(`${engine}: users, keys and servers`, () => managementContract(open))
}
