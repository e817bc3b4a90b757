import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser, nameOf, type User } from '../../../src/accounts/user.ts'
import { addUser, issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, register, tally } from '../people.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

type Named = Pick<User, 'email' | 'external_id'>

const named = (records: readonly Named[]) => records.map((one) => nameOf({ id: 'none', ...one }))
const pick = ({ email, external_id }: Named) => ({ email, external_id })

/** Users whom another site knows by an id of its own, and who may have no email address. */
export function externalIdsContract(open: OpenFixture): void {
  test('a user is found by the external id, exactly as stored', async (t) => {
    const { store } = await open(t)
    const [external, both] = [createUser(null, 'Player 1'), createUser('ada@example.com', '2')]
    for (const user of [external, both])
      assert.ok(await recordsOf(store).insertUser(user, OPERATOR))
    assert.deepEqual(await recordsOf(store).findExternalUser('Player 1'), external)
    assert.deepEqual(await recordsOf(store).findExternalUser('2'), both)
    assert.deepEqual(await recordsOf(store).findUser('ada@example.com'), both)
    for (const other of ['player 1', 'Player 1 ', '', '3'])
      assert.equal(await recordsOf(store).findExternalUser(other), null)
  })

  test('a taken external id is refused, and exactly one of several callers gets it', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const inserted = await Promise.all(
      [store, second, store, second].map((one, index) =>
        recordsOf(one).insertUser(
          createUser(index < 2 ? null : `user${index}@example.com`, '1'),
          OPERATOR,
        ),
      ),
    )
    assert.deepEqual(tally(inserted), { true: 1, false: 3 })
    const taken = createUser('eve@example.com', '1')
    assert.equal(
      await recordsOf(store).insertUserWithPassword(taken, 'hash', 'sign-up', OPERATOR),
      false,
    )
    assert.equal(await recordsOf(store).findUser('eve@example.com'), null)
  })

  test('records of a user without an address have its external id, and lists are by name', async (t) => {
    const { store } = await open(t)
    const user = createUser(null, 'b-player')
    assert.ok(await recordsOf(store).insertUser(user, OPERATOR))
    const [ada, cem] = await addUsers(store, 'ada', 'cem')
    for (const one of [cem!, user, ada!]) {
      await issueKey(store, one)
      await register(store, one)
      const entry = { action: 'key issued', subject: '', address: '', occurred_at: NOW } as const
      await recordsOf(store).writeAudit({ ...entry, user_id: one.id })
    }
    const names = ['ada@example.com', 'b-player', 'cem@example.com']
    assert.deepEqual(named(await recordsOf(store).listUserRecords()), names)
    assert.deepEqual(named(await recordsOf(store).listOwnedApiKeys()), names)
    const ofUser = { email: null, external_id: 'b-player' }
    const [key] = await recordsOf(store).listOwnedApiKeys(user.id)
    const [entry] = await recordsOf(store).listAudit(1, { userId: user.id })
    const server = (await recordsOf(store).listOwnedServers(null)).find(
      (one) => one.created_by === user.id,
    )
    const { users: found } = await recordsOf(store).searchUsers('')
    const newest = found.find(({ id }) => id === user.id)
    for (const record of [key, entry, server, newest]) assert.deepEqual(pick(record!), ofUser)
    assert.deepEqual(named(found).toSorted(), names)
  })

  test('a user without an address owns an organization, and adds members', async (t) => {
    const { store } = await open(t)
    const user = createUser(null, 'player')
    assert.ok(await recordsOf(store).insertUser(user, OPERATOR))
    const ada = await addUser(store)
    const id = await addOrganization(store, user)
    assert.equal(await recordsOf(store).addMember(user.id, id, ada.email, OPERATOR), 'added')
    assert.deepEqual(
      (await recordsOf(store).listMembers(ada.id, id)).map((one) => ({ ...one })),
      [
        { user_id: ada.id, email: ada.email, external_id: null, role: 'member', servers: 0 },
        { user_id: user.id, email: null, external_id: 'player', role: 'owner', servers: 0 },
      ],
    )
    assert.deepEqual((await recordsOf(store).listOrganizationRecords())[0]?.owners, ['player'])
  })

  test('a link of a user without an address begins a session and sets no password', async (t) => {
    const { store } = await open(t)
    const user = createUser(null, 'player')
    assert.ok(await recordsOf(store).insertUser(user, OPERATOR))
    const link = { userId: user.id, tokenHash: 'link', expiresAt: NOW + 1 }
    assert.equal(await recordsOf(store).keepSignInLink(link, OPERATOR), false)
    assert.equal(await recordsOf(store).keepSignInLink(link, OPERATOR, false), true)
    const found = { id: user.id, email: null, name: 'player' }
    assert.deepEqual({ ...(await recordsOf(store).findSignInLink('link', NOW)) }, found)
    assert.equal(await recordsOf(store).useSignInLink('link', 'hash', OPERATOR), null)
    assert.equal(await recordsOf(store).findPasswordHash(user.id), null)
    const draft = { tokenHash: 's', userAgent: '', address: '', startedAt: NOW, expiresAt: NOW + 9 }
    assert.equal(await recordsOf(store).beginLinkedSession('link', draft), user.id)
    assert.equal((await recordsOf(store).findSession(['s'], NOW))?.name, 'player')
  })
}
