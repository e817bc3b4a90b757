import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type pg from 'pg'
import { type AddressedUser, createUser } from '../../src/accounts/user.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import type { StoreFixture } from '../contract/fixture.ts'
import { addOrganization, addUsers, fields, join, register } from '../contract/people.ts'
import { type SharedDatabase, shareDatabase } from '../contract/postgres-fixture.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { untilWaiting } from './other-session.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

/*
 * Every transaction locks users first, ordered by id, and then organizations. Each test holds a row
 * until two transactions wait. They would deadlock if one of them locked in the other order.
 */

let server: Server
let url: string
let database: SharedDatabase
before(async () => {
  server = await openServer()
  url = await createMigratedDatabase(server)
  database = shareDatabase(async () => url)
})
after(async () => {
  await database.close()
  await server.remove()
})

/** Two commands. They wait for a lock longer than the server takes to find a deadlock. */
async function openCommands(t: TestContext): Promise<Pick<StoreFixture, 'store'> & Commands> {
  const { store } = await database.open(t)
  const [first, second] = [
    await openPostgresStore(url, { create: true }),
    await openPostgresStore(url, { create: true }),
  ]
  t.after(() => Promise.all([first.close(), second.close()]))
  return { store, first, second }
}

type Opened = Awaited<ReturnType<typeof openPostgresStore>>
interface Commands {
  first: Opened
  second: Opened
}

/**
 * Holds the lock until both acts wait, the first one before the second. Returns their results or
 * errors.
 */
async function whileHeld<A, B>(
  lock: (admin: pg.Client) => Promise<unknown>,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  return asAdmin(url, async (admin) => {
    await admin.query('BEGIN')
    await lock(admin)
    const begun = first()
    await untilWaiting(url, 1)
    const both = Promise.all([begun, second()])
    both.catch(() => {})
    await untilWaiting(url, 2)
    await admin.query('COMMIT')
    return both
  })
}

const holdOrganization = (id: string) => (admin: pg.Client) =>
  admin.query('SELECT FROM organizations WHERE id = $1 FOR UPDATE', [id])
const holdUser = (id: string) => (admin: pg.Client) =>
  admin.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [id])

/** Ada's organization, with Bob as its other owner. Each has a server in it. */
async function openOwned({ store }: Pick<StoreFixture, 'store'>) {
  const [ada, bob] = (await addUsers(store, 'ada', 'bob')) as [AddressedUser, AddressedUser]
  const id = await addOrganization(store, ada)
  await join(store, id, ada, bob)
  await asAdmin(url, (admin) => admin.query(`UPDATE members SET role = 'owner'`))
  const hers = await register(store, ada, { organization_id: id })
  const his = await register(store, bob, { organization_id: id })
  return { ada, bob, id, hers, his }
}

test('removing both owners of an organization does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id, hers, his } = await openOwned({ store })
  const both = await whileHeld(
    holdOrganization(id),
    () => removeUser(first.database, ada.id, operatorAt(presentInstant())),
    () => removeUser(second.database, bob.id, operatorAt(presentInstant())),
  )
  assert.deepEqual(both, [true, true])
  for (const server of [hers, his])
    assert.equal(await recordsOf(store).findVisibleServer(bob.id, server), null)
})

test('removing an owner while the heir edits a server there does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id, hers, his } = await openOwned({ store })
  const edited = fields({ organization_id: id, name: 'Edited' })
  const both = await whileHeld(
    holdOrganization(id),
    () => removeUser(first.database, ada.id, operatorAt(presentInstant())),
    () => recordsOf(second).updateServer(bob.id, his, edited, operatorAt(NOW)),
  )
  assert.deepEqual(both, [true, 'written'])
  assert.equal((await recordsOf(store).findServer(bob.id, hers))?.organization_id, id)
})

test('removing an owner while the heir leaves does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id, his } = await openOwned({ store })
  const both = await whileHeld(
    holdOrganization(id),
    () => removeUser(first.database, ada.id, operatorAt(presentInstant())),
    () => recordsOf(second).removeMember(bob.id, id, bob.id, operatorAt(presentInstant())),
  )
  assert.deepEqual(both, [true, false])
  assert.equal((await recordsOf(store).findServer(bob.id, his))?.organization_id, id)
})

test('the setup link and a new password of the same user do not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const [ada] = (await addUsers(store, 'ada')) as [AddressedUser]
  await recordsOf(store).keepSecret('setup', 'token')
  const both = await whileHeld(
    holdUser(ada.id),
    () => recordsOf(first).setPassword(ada.id, 'set', operatorAt(presentInstant())),
    () =>
      recordsOf(second).insertFirstUser(
        createUser(ada.email),
        'first',
        'token',
        operatorAt(presentInstant()),
      ),
  )
  assert.deepEqual(both, [undefined, null])
  assert.equal(await recordsOf(store).findPasswordHash(ada.id), 'set')
})

test('the setup link and a new user with the same email do not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  await recordsOf(store).keepSecret('setup', 'token')
  const [user, another] = [createUser('ada@example.com'), createUser('ada@example.com')]
  const both = await whileHeld(
    (admin) => admin.query(`SELECT FROM secrets WHERE name = 'setup' FOR UPDATE`),
    () => recordsOf(first).insertFirstUser(user, 'first', 'token', operatorAt(presentInstant())),
    () =>
      recordsOf(second).insertUserWithPassword(
        another,
        'added',
        'sign-up',
        operatorAt(presentInstant()),
      ),
  )
  assert.deepEqual(both, [user.id, false])
  assert.deepEqual(await recordsOf(store).findPassword(user.email), {
    userId: user.id,
    hash: 'first',
  })
})
