import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { hashOf, idOf, openSite, type Site } from './site.ts'

/*
 * What one row can't have is in the answer, and the rest is done.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** An account that the site has not. */
const ROOT = `
  INSERT INTO users (id, email) VALUES ('${idOf(99)}', 'root@example.com');
  INSERT INTO servers (id, created_by, name, host_label) VALUES ('${idOf(99)}', '${idOf(99)}', 'r', 'r');
  INSERT INTO api_keys (id, user_id, name, prefix, key_hash)
  VALUES ('${idOf(99)}', '${idOf(99)}', 'r', 'svc_live_', '\\x${hashOf('r')}')`

async function refusedOf({ call }: Site, act: string, rows: object[]) {
  const { refused } = await call(act, rows)
  return refused.map(({ row, reason }) => `${row} ${reason}`)
}

test('an address that a user can not have stays out', async (t) => {
  const site = await openSite(t, server)
  await site.own(`${ROOT}; INSERT INTO operator_addresses VALUES ('op@example.com')`)
  const rows = [
    'ROOT@example.com',
    'op@example.com',
    'bob@exämple.com',
    'eve@example.com',
    'Eve@example.com',
    'two@at@example.com',
    `${'x'.repeat(243)}@example.com`,
    '',
  ].map((email, index) => ({ external_id: String(index), email }))
  assert.deepEqual(await refusedOf(site, 'put_users', rows), [
    '0 address taken',
    '1 address of an operator',
    '2 address not ASCII',
    '4 address taken',
    '5 address not ASCII',
    '6 address not ASCII',
    '7 address not ASCII',
  ])
  // An address that the site no longer gives ends, although the new one is refused.
  const moved = [{ external_id: '3', email: 'op@example.com' }]
  assert.deepEqual(await refusedOf(site, 'put_users', moved), ['0 address of an operator'])
  assert.deepEqual(await site.own('SELECT FROM users WHERE email IS NOT NULL'), [{}])
})

test('a server that a user can not have is not written', async (t) => {
  const site = await openSite(t, server)
  await site.own(`${ROOT}; INSERT INTO organizations VALUES ('${idOf(50)}', 'blue', 'Blue')`)
  await site.call('put_users', [{ external_id: '1' }])
  const row = { external_id: '1', name: 'N', address: 'a' }
  const rows = [
    { ...row, id: idOf(99) },
    { ...row, id: idOf(1), external_id: '9' },
    { ...row, id: idOf(2), name: '' },
    { ...row, id: idOf(3), name: 'N'.repeat(201) },
    { ...row, id: idOf(4), version: 'a\nb' },
    { ...row, id: idOf(5), organization: 'red' },
    { ...row, id: idOf(6), organization: 'blue' },
    { ...row, id: idOf(7), name: '😀'.repeat(200), slug: '', version: '' },
  ]
  assert.deepEqual(await refusedOf(site, 'put_servers', rows), [
    '0 of another account',
    '1 no such user',
    '2 empty',
    '3 too long',
    '4 not one line',
    '5 no such organization',
    '6 not a member',
  ])
  const left = [{ id: idOf(7) }, { id: idOf(99) }]
  assert.deepEqual(await site.own('SELECT id FROM servers ORDER BY id'), left)
  assert.deepEqual(await refusedOf(site, 'remove_servers', left), ['1 of another account'])
})

test('a key that a user can not have is not written', async (t) => {
  const site = await openSite(t, server)
  await site.own(ROOT)
  await site.call('put_users', [{ external_id: '1' }])
  const rows = ['9', 'r', ...'abcdef'].map((key) => ({
    external_id: key === '9' ? '9' : '1',
    name: key,
    key_hash: hashOf(key),
  }))
  assert.deepEqual(await refusedOf(site, 'put_keys', rows), [
    '0 no such user',
    '1 of another account',
    '7 sixth key',
  ])
  const foreign = [
    { external_id: '1', id: idOf(99) },
    { external_id: '1', key_hash: hashOf('r') },
    { external_id: '1', key_hash: hashOf('z') },
    { external_id: '9', key_hash: hashOf('a') },
  ]
  assert.deepEqual(await refusedOf(site, 'revoke_keys', foreign), [
    '0 of another account',
    '1 of another account',
    '3 of another account',
  ])
  await site.call('revoke_keys', [{ external_id: '1', key_hash: hashOf('a') }])
  assert.deepEqual(await refusedOf(site, 'put_keys', rows.slice(2)), ['0 stays revoked'])
})

test('a user whom an operator disabled stays so', async (t) => {
  const site = await openSite(t, server)
  await site.call('put_users', [{ external_id: '4', email: 'eve@example.com' }])
  await site.own('UPDATE users SET disabled_at = now()')
  const back = [{ external_id: '4', email: 'eve@example.com', banned_at: null }]
  const refused = [{ row: 0, external_id: '4', reason: 'disabled by an operator' }]
  assert.deepEqual(await site.call('put_users', back), { added: 0, changed: 0, refused })
  const row = { id: idOf(1), external_id: '4', name: 'N', address: 'a' }
  await site.call('put_servers', [row])
  assert.deepEqual(await site.call('remove_users', [{ external_id: '4' }]), { removed: 0, refused })
  const state = `SELECT email, disabled_at IS NULL AS enabled, banned_at IS NULL AS wanted,
    (SELECT count(*)::int FROM servers) AS servers FROM users`
  const empty = { email: null, enabled: false, servers: 0 }
  assert.deepEqual(await site.own(state), [{ ...empty, wanted: false }])
  assert.deepEqual(await site.call('put_users', back), { added: 0, changed: 1, refused })
  assert.deepEqual(await site.own(state), [{ ...empty, wanted: true }])
})
