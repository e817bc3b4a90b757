import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActsAnswer } from '../../../src/acts/document.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { hashOf, ID, perform, server, user } from './document.ts'

/** Ada has no external id, but an organization, a server and a key. */
async function openAda({ store, execute }: StoreFixture) {
  const { user: ada, keyId } = await addOwner(store, 'ada@example.com')
  const red = { id: ID(7), slug: 'red', name: 'Red' }
  await recordsOf(store).insertOrganization(ada.id, red, operatorAt(presentInstant()))
  await execute(`INSERT INTO servers (id, created_by, name, host_label, updated_at)
    SELECT '${ID(8)}', id, 'Hers', 'hers.example.com', created_at FROM users`)
  return { ada, keyId }
}

function reasonsIn(answer: ActsAnswer): string[] {
  return Object.entries(answer).flatMap(([act, { refused }]) =>
    (refused as { row: number; reason: string }[]).map(
      ({ row, reason }) => `${act} ${row} ${reason}`,
    ),
  )
}

/** Which rows are refused, and that the others are done. */
export function refusedContract(open: OpenFixture): void {
  test('an address or organization that a row cannot have is in the answer', async (t) => {
    const fixture = await open(t)
    await openAda(fixture)
    const answer = await perform(fixture.store, {
      put_users: [
        user('1', { email: 'ada@example.com' }),
        user('2', { email: 'jürgen@example.com' }),
        user('3', { email: 'op@example.com' }),
        user('4', { email: 'four@example.com' }),
        user('5', { email: 'FOUR@example.com' }),
      ],
      put_organizations: [
        { slug: 'red', name: 'Stolen', external_id: '1' },
        { slug: 'blue', name: 'Blue', external_id: '9' },
        { slug: 'green', name: 'Green', external_id: '1' },
      ],
      put_members: [
        { slug: 'red', external_id: '1', role: 'owner' },
        { slug: 'blue', external_id: '1', role: 'owner' },
        { slug: 'green', external_id: '9', role: 'owner' },
        { slug: 'green', external_id: '1', role: 'member' },
      ],
      remove_members: [{ slug: 'green', external_id: '1' }],
      remove_organizations: [{ slug: 'red' }],
    })
    assert.deepEqual(reasonsIn(answer), [
      'put_users 0 address taken',
      'put_users 1 address not ASCII',
      'put_users 2 address of an operator',
      'put_users 4 address taken',
      'put_organizations 0 of another account',
      'put_organizations 1 no such user',
      'put_members 0 of another account',
      'put_members 1 no such organization',
      'put_members 2 no such user',
      'put_members 3 last owner',
      'remove_members 0 last owner',
      'remove_organizations 0 of another account',
    ])
    const reason = 'address not ASCII'
    assert.deepEqual(answer.put_users?.refused[1], { row: 1, external_id: '2', reason })
    assert.equal(answer.put_users?.added, 5)
  })

  test('a server or key that a row cannot have is in the answer', async (t) => {
    const fixture = await open(t)
    const { ada, keyId } = await openAda(fixture)
    const key = (n: number, external_id = '1') => {
      return { external_id, name: 'bot', key_hash: hashOf(`${ada.id} ${n}`) }
    }
    const answer = await perform(fixture.store, {
      put_users: [user('1'), user('2')],
      put_organizations: [{ slug: 'green', name: 'Green', external_id: '1' }],
      put_servers: [
        server(1, '9'),
        server(8, '1'),
        server(2, '1', { name: 'two\nlines' }),
        server(3, '1', { version: 'x'.repeat(65) }),
        server(4, '1', { address: '' }),
        server(5, '1', { organization: 'blue' }),
        server(6, '2', { organization: 'green' }),
        server(9, '1', { name: '🧱'.repeat(200), address: 'any text' }),
      ],
      put_keys: [key(0, '9'), ...[1, 2, 3, 4, 5, 6].map((n) => key(n))],
      revoke_keys: [{ external_id: '1', id: keyId }],
      remove_servers: [{ id: ID(8) }],
    })
    assert.deepEqual(reasonsIn(answer), [
      'put_servers 0 no such user',
      'put_servers 1 of another account',
      'put_servers 2 not one line',
      'put_servers 3 too long',
      'put_servers 4 empty',
      'put_servers 5 no such organization',
      'put_servers 6 not a member',
      'put_keys 0 no such user',
      'put_keys 6 sixth key',
      'revoke_keys 0 of another account',
      'remove_servers 0 of another account',
    ])
    assert.deepEqual([answer.put_servers?.added, answer.put_keys?.added], [1, 5])
  })

  test('a mistake of an operator refuses the whole document', async (t) => {
    const { store } = await open(t)
    await addOwner(store, 'ada@example.com')
    const refused = perform(
      store,
      {
        put_users: [user('1'), user('2')],
        put_servers: [server(1, '9')],
      },
      'operator',
    )
    await assert.rejects(refused, {
      message: 'put_servers[0]: names no user here; put the user first',
    })
    assert.equal((await recordsOf(store).listUserRecords()).length, 1)
  })
}
