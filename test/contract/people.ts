import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerFields } from '../../src/servers/server.ts'
import { countNothing, type SavedServers } from '../../src/servers/server-import.ts'
import type { Store } from '../../src/database/store.ts'
import type { AddressedUser, User } from '../../src/accounts/user.ts'
import { addUser } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

export const OPERATOR = operatorAt(NOW)

/** Makes an organization that the user owns and returns its id. */
export async function addOrganization(
  store: Store,
  owner: User,
  { slug = `guild-${randomUUID()}`, name = slug }: { slug?: string; name?: string } = {},
  now = NOW,
): Promise<string> {
  const id = randomUUID()
  assert.equal(
    await recordsOf(store).insertOrganization(owner.id, { id, slug, name }, operatorAt(now)),
    'made',
  )
  return id
}

/** Makes the user a member from `now` on. */
export async function join(
  store: Store,
  organizationId: string,
  owner: User,
  user: AddressedUser,
  now = NOW,
): Promise<void> {
  assert.equal(
    await recordsOf(store).addMember(owner.id, organizationId, user.email, operatorAt(now)),
    'added',
  )
}

/** Adds users with these names and returns them in the same order. */
export function addUsers(store: Store, ...names: string[]): Promise<AddressedUser[]> {
  return Promise.all(names.map((name) => addUser(store, `${name}@example.com`)))
}

/** Gives the user a password, and with it another email address. */
export async function rename(store: Store, { id }: User, email: string): Promise<void> {
  await recordsOf(store).setPassword(id, 'checked', OPERATOR)
  assert.equal(await recordsOf(store).changeEmail(id, 'checked', email, OPERATOR), 'changed')
}

/** A server's form with the required fields only. */
export function fields(changed: Partial<ServerFields> = {}): ServerFields {
  return {
    name: 'Survival',
    slug: null,
    address: 'play.example.com',
    edition: 'java',
    status: 'published',
    version: null,
    listing_kind: null,
    organization_id: null,
    ...changed,
  }
}

/** Registers a server for the user and returns its id. */
export async function register(
  store: Store,
  user: User,
  changed: Partial<ServerFields> = {},
  now = NOW,
): Promise<string> {
  const id = randomUUID()
  assert.equal(
    await recordsOf(store).insertServer(user.id, id, fields(changed), operatorAt(now)),
    'written',
  )
  return id
}

/** What an import returns that does this. */
export function saved(counts: Partial<SavedServers>): SavedServers {
  return { ...countNothing(), wrong: [], isTooMany: false, ...counts }
}

/** The number of results per value. */
export function tally(results: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const result of results) counts[String(result)] = (counts[String(result)] ?? 0) + 1
  return counts
}
