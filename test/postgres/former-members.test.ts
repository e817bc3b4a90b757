import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Store } from '../../src/database/store.ts'
import type { AddressedUser } from '../../src/accounts/user.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addUser } from '../fixtures/service.ts'
import { organizations } from '../../src/organizations/records/organizations.ts'
import { serverImports } from '../../src/servers/records/server-imports.ts'
import { serversOfFormerMembers } from '../../src/servers/records/former-members.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'

/*
 * Owners and members leave or are removed at the same time, in several processes.
 */

const ROUNDS = 8
const PER_OWNER = 5

let server: Server
let url: string
let stores: Store[]
before(async () => {
  server = await openServer()
  url = await createDatabase(server)
  stores = [
    await openPostgresStore(url, { create: true }),
    await openPostgresStore(url, { create: true }),
  ]
  // Slows the updates of a listing down, so that two of them meet.
  await asAdmin(url, (client) =>
    client.query(`
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END';
      CREATE TRIGGER slow BEFORE INSERT OR UPDATE ON listing_revisions FOR EACH ROW EXECUTE FUNCTION slow()
    `),
  )
})
after(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await server.remove()
})

const nameOf = (user: AddressedUser) => user.email.replace(/@.*/, '')
const listed = (...names: string[]) =>
  Promise.all(names.map((name) => addUser(stores[0]!, `${name}@example.com`)))

/** An organization of the user, with servers of former members in this order. */
async function organizationOf(
  user: AddressedUser,
  former: readonly AddressedUser[],
): Promise<string> {
  const [store] = stores as [Store]
  const id = await organizations(store.database).ensureOrganization(
    `of-${nameOf(user)}`,
    user.id,
    operatorAt(presentInstant()),
  )
  for (const one of former) {
    await organizations(store.database).ensureOrganization(
      `of-${nameOf(user)}`,
      one.id,
      operatorAt(presentInstant()),
    )
    const entries = Array.from({ length: PER_OWNER }, (_, n) => ({
      name: 'a',
      address: `${nameOf(user)}${n}.example.com`,
    }))
    await serverImports(store.database).saveServers(one.id, id, entries, operatorAt(1))
    assert.ok(
      await organizations(store.database).removeMember(
        one.id,
        id,
        one.id,
        operatorAt(presentInstant()),
      ),
    )
  }
  return id
}

test('owners who return servers of the same former members at once do not deadlock', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [ada, bob, cem, dan] = await listed(
      ...['ada', 'bob', 'cem', 'dan'].map((name) => `${name}${round}`),
    )
    assert.ok(ada && bob && cem && dan)
    const own = await organizationOf(ada, [cem, dan])
    const other = await organizationOf(bob, [dan, cem])
    const returned = await Promise.all([
      serversOfFormerMembers(stores[0]!.database).giveBackServers(
        ada.id,
        own,
        operatorAt(presentInstant()),
      ),
      serversOfFormerMembers(stores[1]!.database).giveBackServers(
        bob.id,
        other,
        operatorAt(presentInstant()),
      ),
    ])
    assert.deepEqual(returned, [2 * PER_OWNER, 2 * PER_OWNER])
  }
})

test("removing two users with servers in each other's organization does not deadlock", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [eve, fay] = await listed(`eve${round}`, `fay${round}`)
    assert.ok(eve && fay)
    await organizationOf(eve, [fay])
    await organizationOf(fay, [eve])
    const removed = await Promise.all([
      removeUser(stores[0]!.database, eve.id, operatorAt(presentInstant())),
      removeUser(stores[1]!.database, fay.id, operatorAt(presentInstant())),
    ])
    assert.deepEqual(removed, [true, true])
  }
})

test('when both owners of an organization are removed at once, its member owns it', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [gil, hal, ida] = await listed(`gil${round}`, `hal${round}`, `ida${round}`)
    assert.ok(gil && hal && ida)
    const [store] = stores as [Store]
    const id = await organizations(store.database).ensureOrganization(
      `guild${round}`,
      gil.id,
      operatorAt(presentInstant()),
    )
    for (const { id: userId } of [hal, ida])
      await organizations(store.database).ensureOrganization(
        `guild${round}`,
        userId,
        operatorAt(presentInstant()),
      )
    await asAdmin(url, (client) =>
      client.query(`UPDATE members SET role = 'owner' WHERE user_id = $1`, [hal.id]),
    )
    await Promise.all([
      removeUser(stores[0]!.database, gil.id, operatorAt(presentInstant())),
      removeUser(stores[1]!.database, hal.id, operatorAt(presentInstant())),
    ])
    const members = await organizations(store.database).listMembers(ida.id, id)
    assert.deepEqual(
      members.map(({ email, role }) => [email, role]),
      [[ida.email, 'owner']],
    )
  }
})
