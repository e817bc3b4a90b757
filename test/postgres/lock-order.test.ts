import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import type pg from 'pg'
import { type AddressedUser, createUser } from '../../src/accounts/user.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import type { StoreFixture } from '../contract/fixture.ts'
import { addOrganization, addUsers, fields, join, NOW, register } from '../contract/people.ts'
import { type SharedDatabase, shareDatabase } from '../contract/postgres-fixture.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { removeServer } from '../fixtures/changed-servers.ts'
import { untilWaiting } from './other-session.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'
import { recordsOf } from '../fixtures/records.ts'

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

/** Ada's organization, with a server of the former member Bob. */
async function leftByBob({ store }: Pick<StoreFixture, 'store'>) {
  const [ada, bob] = (await addUsers(store, 'ada', 'bob')) as [AddressedUser, AddressedUser]
  const id = await addOrganization(store, ada)
  await join(store, id, ada, bob)
  const left = await register(store, bob, { organization_id: id })
  assert.ok(await recordsOf(store).removeMember(bob.id, id, bob.id, operatorAt(presentInstant())))
  return { ada, bob, id, left }
}

test('returning servers while their user joins again does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id } = await leftByBob({ store })
  await recordsOf(store).invite(ada.id, id, bob.email, 0, operatorAt(NOW))
  const both = await whileHeld(
    holdOrganization(id),
    () => recordsOf(first).giveBackServers(ada.id, id, operatorAt(presentInstant())),
    () => recordsOf(second).acceptInvitation(bob.id, id, 0, operatorAt(NOW)),
  )
  assert.deepEqual(both, [1, 'joined'])
})

test('returning servers while their user registers another one does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id } = await leftByBob({ store })
  const both = await whileHeld(
    holdOrganization(id),
    () => recordsOf(first).giveBackServers(ada.id, id, operatorAt(presentInstant())),
    () =>
      recordsOf(second).insertServer(
        bob.id,
        randomUUID(),
        fields({ organization_id: id }),
        operatorAt(NOW),
      ),
  )
  assert.deepEqual(both, [1, 'not found'])
})

test('returning servers while their user edits one does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id, left } = await leftByBob({ store })
  const both = await whileHeld(
    holdOrganization(id),
    () => recordsOf(first).giveBackServers(ada.id, id, operatorAt(presentInstant())),
    () =>
      recordsOf(second).updateServer(
        bob.id,
        left,
        fields({ organization_id: id }),
        operatorAt(NOW),
      ),
  )
  assert.deepEqual(both, [1, 'not found'])
})

test('returning servers while the owner is removed does not deadlock', async (t) => {
  const { store, first, second } = await openCommands(t)
  const { ada, bob, id, left } = await leftByBob({ store })
  const both = await whileHeld(
    holdOrganization(id),
    () => recordsOf(first).giveBackServers(ada.id, id, operatorAt(presentInstant())),
    () => removeUser(second.database, ada.id, operatorAt(presentInstant())),
  )
  assert.deepEqual(both, [1, true])
  assert.equal((await recordsOf(store).findServer(bob.id, left))?.organization_id, null)
})

test('removing a user while another leaves a server behind does not deadlock', async (t) => {
  const { store, first } = await openCommands(t)
  const { ada, bob, id, left } = await leftByBob({ store })
  await removeServer(store.database, bob.id, left, 1)
  await asAdmin(url, async (bobs) => {
    const removed = await asAdmin(url, async (admin) => {
      await admin.query('BEGIN')
      await holdOrganization(id)(admin)
      const removing = removeUser(first.database, ada.id, operatorAt(presentInstant()))
      removing.catch(() => {})
      await untilWaiting(url, 1)
      // Ada's removal has found no server of others, and now there is one.
      await admin.query(
        `INSERT INTO servers (id, created_by, organization_id, name, host_label, updated_at)
         VALUES ($1, $2, $3, 'Late', 'late.example.com', now())`,
        [left, bob.id, id],
      )
      await bobs.query('BEGIN')
      await holdUser(bob.id)(bobs)
      await admin.query('COMMIT')
      return { removing }
    })
    await untilWaiting(url, 1)
    await bobs.query('SELECT FROM organizations WHERE id = $1 FOR KEY SHARE', [id])
    await bobs.query('COMMIT')
    assert.equal(await removed.removing, true)
  })
  const returned = await recordsOf(store).findServer(bob.id, left)
  assert.deepEqual([returned?.organization_id, returned?.status], [null, 'draft'])
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
