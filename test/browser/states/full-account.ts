import { presentInstant } from '../../../src/model/instant.ts'
import { slotOf } from '../../../src/model/usage-counts.ts'
import type { TestDashboard } from '../../fixtures/dashboard.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { usageCounts } from '../../../src/keys/records/usage-counts.ts'

/** Who else is in the account's organizations, by what the pages about them need. */
export interface People {
  /** A member of the organization. */
  member: string
  /** An organization of the user's without servers. */
  empty: string
}

export interface FullAccount {
  server: string
  /** An active key with requests of every outcome. */
  key: string
  organization: string
}

/** Gives a user more servers than a page shows, an organization, and keys with full charts. */
export async function fillAccount(
  { store }: TestDashboard,
  userId: string,
  /** What every name begins with. */
  name = 'Cobblestone Commons',
): Promise<FullAccount> {
  const now = presentInstant()
  const entries = Array.from({ length: 101 }, (_, index) => ({
    name: `${name} ${index}`,
    address: `play${index}.${name.toLowerCase().replace(/\W+/g, '-').slice(0, 63)}.example:25570`,
    slug: `cobblestone-commons-${index}`,
    version: '1.21.4',
    listing_kind: 'server',
  }))
  await recordsOf(store).saveServers(userId, null, entries, operatorAt(now))
  const organization = crypto.randomUUID()
  await recordsOf(store).insertOrganization(
    userId,
    { id: organization, slug: 'guild', name },
    operatorAt(now),
  )
  await recordsOf(store).saveServers(userId, organization, entries.slice(0, 3), operatorAt(now))
  const servers = await recordsOf(store).listServers(userId)
  const server = servers.find((one) => one.organization === null)
  let key = ''
  for (let index = 0; index < 4; index += 1) {
    key = crypto.randomUUID()
    await recordsOf(store).insertApiKey(
      {
        id: key,
        user_id: userId,
        name: `${name.slice(0, 62)} ${index}`,
        prefix: 'svc_live_0123456',
        created_at: now,
        revoked_at: null,
        last_used_at: null,
      },
      crypto.getRandomValues(new Uint8Array(32)),
      5,
      operatorAt(presentInstant()),
    )
    if (index === 0) await recordsOf(store).revokeApiKey(userId, key, operatorAt(now))
    await usageCounts(store.counting).addUsageCounts(countsOf(key, slotOf(now)))
  }
  return { server: server!.id, key, organization }
}

function countsOf(key: string, slot: number) {
  return Array.from({ length: 144 }, (_, ago) => ({
    api_key_id: key,
    slot: slot - ago,
    answered: 500 + ago,
    limited: ago % 7,
    revoked: 3,
  }))
}
