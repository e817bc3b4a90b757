import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { hashOf, idOf, openSite } from './site.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a site lists the keys of a user, oldest first', async (t) => {
  const { call, query } = await openSite(t, server)
  await call('put_users', [{ external_id: '1' }, { external_id: '2' }])
  const key = { external_id: '1', name: 'bot', key_hash: hashOf('a'), prefix: 'svc_live_0123456' }
  const old = {
    external_id: '1',
    name: 'old',
    key_hash: hashOf('b'),
    created_at: '2025-01-01T00:00:00Z',
    revoked_at: '2026-01-01T00:00:00Z',
  }
  await call('put_keys', [key, old, { ...key, external_id: '2', key_hash: hashOf('c') }])
  const { rows } = await query('SELECT name, prefix, revoked_at FROM listing.keys_of($1)', ['1'])
  assert.deepEqual(rows, [
    { name: 'old', prefix: 'svc_live_', revoked_at: new Date('2026-01-01') },
    { name: 'bot', prefix: 'svc_live_0123456', revoked_at: null },
  ])
})

test('a list of all needs a snapshot', async (t) => {
  const { call, query } = await openSite(t, server)
  for (const [act, rows] of [
    ['put_users', [{ external_id: '1' }]],
    ['put_servers', [{ id: idOf(1), external_id: '1', name: 'One', address: 'one.example.com' }]],
  ] as const)
    for (const level of ['READ COMMITTED', 'READ UNCOMMITTED']) {
      await query(`BEGIN ISOLATION LEVEL ${level}`)
      await assert.rejects(call(act, rows, true), { code: '25000', message: /REPEATABLE READ/ })
      await query('ROLLBACK')
    }
})
