import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { hashOf, idOf, openSite } from './site.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a site puts its users, and the same again changes nothing', async (t) => {
  const { call, own } = await openSite(t, server)
  const users = [
    { external_id: '1', email: 'Ada@example.com', created_at: '2026-01-01T00:00:00Z' },
    { external_id: '2', email: null, banned_at: '2026-02-01T00:00:00+01:00' },
  ]
  assert.deepEqual(await call('put_users', users), { added: 2, changed: 0, refused: [] })
  assert.deepEqual(await call('put_users', users), { added: 0, changed: 0, refused: [] })
  assert.deepEqual(await own('SELECT external_id, email, banned_at FROM users ORDER BY 1'), [
    { external_id: '1', email: 'ada@example.com', banned_at: null },
    { external_id: '2', email: null, banned_at: new Date('2026-01-31T23:00:00Z') },
  ])
  const lifted = [{ external_id: '2', banned_at: null }, { external_id: '1' }]
  assert.deepEqual(await call('put_users', lifted), { added: 0, changed: 1, refused: [] })
  assert.deepEqual(await own('SELECT action, subject, address FROM audit_log ORDER BY id'), [
    { action: 'user banned', subject: '2', address: 'site' },
    { action: 'user unbanned', subject: '2', address: 'site' },
  ])
})

test('two users swap their addresses in one document', async (t) => {
  const { call, own } = await openSite(t, server)
  const names = ['ada@example.com', 'bob@example.com']
  const [before, after] = [names, names.toReversed()].map((emails) =>
    emails.map((email, index) => ({ external_id: String(index), email })),
  )
  await call('put_users', before)
  assert.deepEqual(await call('put_users', after), { added: 0, changed: 2, refused: [] })
  assert.deepEqual(await own('SELECT email FROM users ORDER BY external_id'), [
    { email: 'bob@example.com' },
    { email: 'ada@example.com' },
  ])
})

test('a field that a server of the site leaves out keeps its value', async (t) => {
  const { call, own } = await openSite(t, server)
  await call('put_users', [{ external_id: '1' }, { external_id: '2' }])
  const one = { id: idOf(1), external_id: '1', name: 'One', address: 'one.example.com' }
  const put = (row: object) => call('put_servers', [row])
  assert.deepEqual(await put(one), { added: 1, changed: 0, refused: [] })
  const changed = { added: 0, changed: 1, refused: [] }
  assert.deepEqual(await put({ ...one, name: 'Two', version: '1.21' }), changed)
  assert.deepEqual(await put({ ...one, name: 'Two' }), { added: 0, changed: 0, refused: [] })
  assert.deepEqual(await put({ ...one, external_id: '2' }), changed)
  assert.deepEqual(
    await own(`SELECT external_id, name, host_label, edition, status, version
      FROM servers JOIN users ON users.id = created_by`),
    [
      {
        external_id: '2',
        name: 'One',
        host_label: 'one.example.com',
        edition: 'java',
        status: 'published',
        version: '1.21',
      },
    ],
  )
  const ids = [{ id: idOf(1) }, { id: idOf(2) }]
  assert.deepEqual(await call('remove_servers', ids), { removed: 1, refused: [] })
})

test('a site puts, lists and revokes keys, and removes a user with them', async (t) => {
  const { call, own, query } = await openSite(t, server)
  await call('put_users', [{ external_id: '1' }])
  const keys = [
    { external_id: '1', name: ' bot ', key_hash: hashOf('a'), prefix: 'svc_live_0123456' },
    { external_id: '1', name: 'old', key_hash: hashOf('b'), revoked_at: '2026-01-01T00:00:00Z' },
  ]
  assert.deepEqual(await call('put_keys', keys), { added: 2, changed: 0, refused: [] })
  const { rows } = await query('SELECT name, prefix, revoked_at FROM listing.keys_of($1)', ['1'])
  assert.deepEqual(rows, [
    { name: 'bot', prefix: 'svc_live_0123456', revoked_at: null },
    { name: 'old', prefix: 'svc_live_', revoked_at: new Date('2026-01-01') },
  ])
  const hashes = keys.map(({ external_id, key_hash }) => ({ external_id, key_hash }))
  assert.deepEqual(await call('revoke_keys', hashes), { revoked: 1, refused: [] })
  await call('put_keys', [{ external_id: '1', name: 'new', key_hash: hashOf('c') }])
  const gone = [{ external_id: '1' }, { external_id: '9' }]
  assert.deepEqual(await call('remove_users', gone), { removed: 1, refused: [] })
  assert.deepEqual(await own('SELECT FROM api_keys'), [])
  assert.equal((await own('SELECT FROM revoked_hashes')).length, 3)
  const entries = await own('SELECT action FROM audit_log ORDER BY id')
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['key imported', 'key imported', 'key revoked', 'key imported', 'user removed'],
  )
})
