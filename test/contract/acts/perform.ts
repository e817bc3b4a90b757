import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenFixture } from '../fixture.ts'
import { ID, perform, server, user } from './document.ts'

const member = (external_id: string, role = 'owner') => ({ slug: 'red', external_id, role })

/** What no case in test/acts/cases can say: large documents, and documents that overlap. */
export function performContract(open: OpenFixture): void {
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
}
