import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { hashOf, ID, perform, put, server, user } from './document.ts'

const member = (external_id: string, role = 'owner') => ({ slug: 'red', external_id, role })

/** What documents of a site do, in one transaction each. */
export function performContract(open: OpenFixture): void {
  test('a document of all acts is done, and again it changes nothing', async (t) => {
    const { store } = await open(t)
    const key_hash = hashOf(crypto.randomUUID())
    const document = {
      put_users: [user('1', { email: 'Ada@example.com' }), user('2')],
      put_organizations: [{ slug: 'red', name: 'Red', external_id: '1' }],
      put_members: [{ slug: 'red', external_id: '2', role: 'member' }],
      put_servers: [server(1, '1'), server(2, '2', { organization: 'red', version: '1.21' })],
      put_keys: [{ external_id: '1', name: 'bot', key_hash }],
    }
    const expected = {
      put_users: put(2),
      put_organizations: put(1),
      put_members: put(1),
      put_servers: put(2),
      put_keys: put(1),
    }
    assert.deepEqual(await perform(store, document, 'site', true), expected)
    assert.deepEqual(await recordsOf(store).listUserRecords(), [])
    assert.deepEqual(await perform(store, document), expected)
    const again = await perform(store, document)
    for (const answer of Object.values(again)) assert.deepEqual(answer, put(0))
    const removed = await perform(store, {
      revoke_keys: [{ external_id: '1', key_hash }],
      remove_servers: [{ id: ID(2) }, { id: ID(9) }],
      remove_members: [{ slug: 'red', external_id: '2' }],
      remove_organizations: [{ slug: 'red' }],
      remove_users: [user('2'), user('9')],
    })
    const gone = { removed: 1, refused: [] }
    assert.deepEqual(removed, {
      revoke_keys: { revoked: 1, refused: [] },
      remove_servers: gone,
      remove_members: gone,
      remove_organizations: gone,
      remove_users: gone,
    })
    const audited = await recordsOf(store).listAudit(99)
    assert.deepEqual(audited.map(({ action }) => action).toSorted(), [
      'key imported',
      'key revoked',
      'member added',
      'member added',
      'member removed',
      'organization deleted',
      'organization made',
      'user removed',
    ])
    assert.ok(audited.every(({ address }) => address === 'token shop'))
  })

  test('users swap addresses, servers change owners, and a ban is apart from an operator', async (t) => {
    const { store, read } = await open(t)
    await perform(store, {
      put_users: [user('1', { email: 'a@example.com' }), user('2', { email: 'b@example.com' })],
      put_servers: [server(1, '1')],
    })
    const swapped = await perform(store, {
      put_users: [
        user('1', { email: 'b@example.com', banned_at: '2026-01-01T00:00:00Z' }),
        user('2', { email: 'a@example.com' }),
      ],
      put_servers: [server(1, '2')],
    })
    assert.deepEqual(swapped.put_users, { added: 0, changed: 2, refused: [] })
    assert.deepEqual(swapped.put_servers, { added: 0, changed: 1, refused: [] })
    const users = await recordsOf(store).listUserRecords()
    assert.deepEqual(
      users.map(({ external_id, email, servers }) => [external_id, email, servers]),
      [
        ['2', 'a@example.com', 1],
        ['1', 'b@example.com', 0],
      ],
    )
    const one = users.find(({ external_id }) => external_id === '1')!
    await recordsOf(store).setDisabled(one.id, true, operatorAt(presentInstant()))
    const lifted = await perform(store, { put_users: [user('1', { banned_at: null })] })
    const held = { row: 0, external_id: '1', reason: 'disabled by an operator' }
    assert.deepEqual(lifted.put_users, { added: 0, changed: 1, refused: [held] })
    const removed = await perform(store, { remove_users: [user('1')] })
    assert.deepEqual(removed.remove_users, { removed: 0, refused: [held] })
    const [row] = await read(
      `SELECT email, disabled_at, banned_at FROM users WHERE external_id = '1'`,
    )
    assert.equal(row!.email, null)
    assert.ok(row!.disabled_at !== null && row!.banned_at !== null)
    const audited = (await recordsOf(store).listAudit(99)).map(({ action }) => action)
    assert.deepEqual(audited.toSorted(), [
      'user banned',
      'user disabled',
      'user removed',
      'user unbanned',
    ])
  })

  test('a removed user comes back as a new one, whose key stays revoked', async (t) => {
    const { store } = await open(t)
    const { user: ada, key } = await addOwner(store, 'ada@example.com')
    const [{ key_hash }] = [{ key_hash: hashOf(key) }]
    await removeUser(store.database, ada.id, operatorAt(presentInstant()))
    const put = await perform(store, {
      put_users: [user('1', { email: ada.email })],
      put_keys: [{ external_id: '1', name: 'bot', key_hash }],
    })
    assert.deepEqual(put.put_keys, {
      added: 1,
      changed: 0,
      refused: [{ row: 0, key_hash, reason: 'stays revoked' }],
    })
    assert.equal((await claim(store, key)).outcome, 'revoked')
  })

  test('what a document makes and removes is gone', async (t) => {
    const { store, read } = await open(t)
    const answer = await perform(store, {
      put_users: [user('1'), user('2')],
      put_organizations: [{ slug: 'red', name: 'Red', external_id: '1' }],
      put_members: [member('2')],
      put_servers: [server(1, '1'), server(2, '2')],
      remove_servers: [{ id: ID(1) }],
      remove_members: [{ slug: 'red', external_id: '2' }],
      remove_organizations: [{ slug: 'red' }],
      remove_users: [user('2')],
    })
    for (const { removed } of [answer.remove_servers!, answer.remove_organizations!])
      assert.equal(removed, 1)
    assert.deepEqual(await read('SELECT external_id FROM users'), [{ external_id: '1' }])
    for (const table of ['servers', 'members', 'organizations'])
      assert.deepEqual(await read(`SELECT id FROM (SELECT 1 AS id FROM ${table}) AS left_over`), [])
  })

  test('of users who go together, none inherits what another one leaves', async (t) => {
    const { store, read } = await open(t)
    await perform(store, {
      put_users: ['1', '2', '3', '4'].map((id) => user(id)),
      put_organizations: [{ slug: 'red', name: 'Red', external_id: '1' }],
      put_members: [member('2'), member('3', 'member'), member('4', 'member')],
      put_servers: [server(1, '1', { organization: 'red' })],
    })
    await perform(store, { remove_users: [user('3'), user('2'), user('1')] })
    const left = await read(`SELECT external_id, role, servers.name FROM users
      JOIN members ON user_id = users.id JOIN servers ON created_by = users.id`)
    assert.deepEqual(left, [{ external_id: '4', role: 'owner', name: 'S1' }])
  })

  test('an owner of 10,000 servers loses those that the list lacks', async (t) => {
    const { store, read } = await open(t)
    await perform(store, { put_users: [user('1')] })
    const all = Array.from({ length: 10_000 }, (_, n) => server(n, '1'))
    for (let at = 0; at < all.length; at += 2_000)
      await perform(store, { put_servers: all.slice(at, at + 2_000) })
    const put_servers = [server(1, '1'), server(20_000, '1')]
    const whole = await perform(store, { put_servers, all_servers_of: [user('1')] })
    assert.deepEqual(whole.put_servers, { added: 1, changed: 0, removed: 9_999, refused: [] })
    const left = await read('SELECT name FROM servers ORDER BY name')
    assert.deepEqual(left, [{ name: 'S1' }, { name: 'S20000' }])
  })

  test('documents that overlap are done one after the other', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const users = Array.from({ length: 50 }, (_, n) => user(`${n}`, { email: `u${n}@example.com` }))
    const servers = users.map(({ external_id }, n) => server(n, external_id))
    const document = { put_users: users, put_servers: servers }
    const reversed = { put_users: users.toReversed(), put_servers: servers.toReversed() }
    const answers = await Promise.all([
      perform(store, document),
      perform(second, reversed),
      perform(store, reversed),
    ])
    assert.equal(
      answers.reduce((sum, { put_users }) => sum + put_users!.added, 0),
      50,
    )
    assert.equal(
      answers.reduce((sum, { put_servers }) => sum + put_servers!.added, 0),
      50,
    )
  })

  test('all users and all servers are those of the site', async (t) => {
    const { store } = await open(t)
    const { user: ada } = await addOwner(store, 'ada@example.com')
    await perform(store, {
      put_users: [user('1'), user('2')],
      put_servers: [server(1, '1'), server(2, '2')],
    })
    const { external_id: _, ...hers } = server(3, '')
    await perform(store, { put_servers: [{ ...hers, user_id: ada.id }] }, 'operator')
    const all = { all_users: true, all_servers: true }
    const answer = await perform(
      store,
      { ...all, put_users: [user('1')], put_servers: [server(1, '1')] },
      'operator',
    )
    assert.deepEqual(answer, {
      put_users: { added: 0, changed: 0, banned: 1, refused: [] },
      put_servers: { added: 0, changed: 0, removed: 1, refused: [] },
    })
    const { servers } = (await recordsOf(store).listUserRecords()).find(({ id }) => id === ada.id)!
    assert.equal(servers, 1)
  })
}
