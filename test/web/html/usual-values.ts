import assert from 'node:assert/strict'
import { generateKey, prefixOf } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { type AuditEntry, operatorAt } from '../../../src/model/audit.ts'
import { HOUR_US, presentInstant } from '../../../src/model/instant.ts'
import { MEMBERS_MAX, ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import { PAGE_SIZE } from '../../../src/servers/server-search.ts'
import { SERVERS_MAX } from '../../../src/model/server-row.ts'
import { slotOf } from '../../../src/model/usage-counts.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { ENTRY, type TestDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { usageCounts } from '../../../src/keys/records/usage-counts.ts'

/*
 * An account with as much as possible of everything, in values of a usual length.
 */

const NAME = 'Lagoon Survival'

/** With these, the API returns none of the servers on the first page of the oldest ones. */
const SERVERS = SERVERS_MAX + PAGE_SIZE
const AGO_US = 2 * HOUR_US

/** Returns the id of the organization. */
export async function fill(dashboard: TestDashboard, userId: string): Promise<string> {
  const { store } = dashboard
  const now = presentInstant()
  const entries = Array.from({ length: SERVERS }, (_, index) => ({
    name: `${NAME} ${index}`,
    address: `play${index}.lagoon.example:25570`,
    slug: `lagoon-survival-${index}`,
    edition: 'java',
    status: 'published',
    version: '1.21.4',
    listing_kind: 'server',
    updated_at: now - AGO_US,
  }))
  await recordsOf(store).saveServers(userId, null, entries, operatorAt(now))
  for (let number = 1; number < ORGANIZATIONS_MAX; number += 1)
    await recordsOf(store).insertOrganization(
      userId,
      { id: crypto.randomUUID(), slug: `o${number}`, name: `${NAME} ${number}` },
      operatorAt(now),
    )
  const organization = crypto.randomUUID()
  const made = { id: organization, slug: 'guild', name: NAME }
  assert.equal(await recordsOf(store).insertOrganization(userId, made, operatorAt(now)), 'made')
  await recordsOf(store).saveServers(userId, organization, entries, operatorAt(now))
  await addMembers(dashboard, userId, organization, now)
  await addKeys(dashboard, userId, now)
  const entry: AuditEntry = {
    user_id: userId,
    action: 'member added',
    subject: NAME,
    address: 'ffff:ffff:ffff:ffff::/64',
    occurred_at: now,
  }
  for (let index = 0; index < 20; index += 1) await recordsOf(store).writeAudit(entry)
  return organization
}

/** As many users as can be members. One has left a server behind. */
async function addMembers(
  { store }: TestDashboard,
  userId: string,
  organization: string,
  now: number,
): Promise<void> {
  for (let index = 1; index <= MEMBERS_MAX; index += 1) {
    const user = createUser(`member${index}@lagoon.example.com`)
    await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
    assert.equal(
      await recordsOf(store).addMember(userId, organization, user.email, operatorAt(now)),
      'added',
    )
    if (index > 1) continue
    const entry = { ...ENTRY, slug: null, version: null, listing_kind: null }
    const server = { ...entry, organization_id: organization }
    await recordsOf(store).insertServer(user.id, crypto.randomUUID(), server, operatorAt(now))
    assert.equal(
      await recordsOf(store).removeMember(
        userId,
        organization,
        user.id,
        operatorAt(presentInstant()),
      ),
      true,
    )
  }
}

/** Five active keys and several deleted ones, many with uneven use. */
async function addKeys({ store }: TestDashboard, userId: string, now: number): Promise<void> {
  for (let number = 0; number < 27; number += 1) {
    const key = generateKey()
    const id = crypto.randomUUID()
    const apiKey = { id, user_id: userId, name: `${NAME} ${number}`, prefix: prefixOf(key) }
    const record = { ...apiKey, created_at: now, revoked_at: null, last_used_at: null }
    assert.equal(
      await recordsOf(store).insertApiKey(record, hashApiKey(key), 5, operatorAt(presentInstant())),
      'stored',
    )
    if (number < 22) await recordsOf(store).revokeApiKey(userId, id, operatorAt(now + number))
    if (number < 19) continue
    // Each ten minutes of a day, then each hour of a week and each day of a month.
    const agos = Array.from({ length: 336 }, (_, index) =>
      index < 144 ? index : index < 312 ? (index - 120) * 6 : (index - 304) * 144,
    )
    const counts = agos.map((ago) => ({
      api_key_id: id,
      slot: slotOf(now) - ago,
      // One in each second. Only a deleted key has refused requests.
      answered: 100 + ((ago * 7_919) % 501),
      limited: 100_000 + ((ago * 104_729) % 1_000_003),
      revoked: number < 22 ? 100_000 + ((ago * 1_299_709) % 1_000_003) : 0,
    }))
    for (const half of [counts.slice(0, 168), counts.slice(168)])
      await usageCounts(store.counting).addUsageCounts(half)
  }
}
