import { setPriority } from 'node:os'
import { startProvider } from '../../test/fixtures/oidc/provider.ts'
import { LOW_PRIORITY, nameOf, PEOPLE } from './browsers.ts'

/*
 * An identity provider in a process of its own. The argument is its client's redirect URI. Prints
 * its issuer.
 */

setPriority(LOW_PRIORITY)
const provider = await startProvider({ after() {} })
provider.redirectTo(process.argv[2]!)
for (let number = 0; number < PEOPLE; number += 1) {
  const name = nameOf(number)
  provider.people[name] = { email: `${name}@example.org`, email_verified: true }
}
console.log(provider.issuer)
