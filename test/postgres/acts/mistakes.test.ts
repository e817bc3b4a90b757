import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { hashOf, idOf, openSite } from './site.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const user = { external_id: '1' }
const one = { ...user, id: idOf(1), name: 'a', address: 'b' }
const key = { ...user, name: 'a', key_hash: hashOf('a') }

const NO_INSTANTS = [
  'tomorrow',
  'now',
  '',
  '2026-02-29T00:00:00Z',
  '2026-01-01T00:00:00',
  '9999-01-01T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T24:00:00Z',
]

const MISTAKES: [act: string, rows: unknown, complaint: string][] = [
  ['put_users', {}, 'must be an array, not object'],
  ['put_users', [7], '[0] must be an object'],
  ['put_users', [user, {}], '[1] needs "external_id"'],
  ['put_users', [{ ...user, "o'k": null }], `[0] has an unknown field "o'k"`],
  ['put_users', [{ ...user, disabled_at: null }], '[0] has an unknown field "disabled_at"'],
  ['put_users', [{ external_id: 1 }], '[0].external_id must be a string'],
  ['put_users', [{ external_id: null }], '[0].external_id must be a string'],
  ['put_users', [{ ...user, email: ['a'] }], '[0].email must be a string or null'],
  ['put_users', [{ ...user, email: { a: 'a' } }], '[0].email must be a string or null'],
  ['put_users', [{ ...user, created_at: null }], '[0].created_at must be a string'],
  ['put_users', [{ external_id: '' }], '[0].external_id must have 1 to 255 characters'],
  [
    'put_users',
    [{ external_id: 'x'.repeat(256) }],
    '[0].external_id must have 1 to 255 characters',
  ],
  ['put_users', [{ external_id: '\u0085' }], '[0].external_id must have no control characters'],
  ...NO_INSTANTS.map((at): [string, unknown, string] => [
    'put_users',
    [{ ...user, banned_at: at }],
    '[0].banned_at must be an ISO 8601 instant such as 2026-01-31T12:00:00Z',
  ]),
  ['put_users', [user, { external_id: '2' }, user], '[2] is the same as [0]'],
  ['put_servers', [{ ...user, name: 'a', address: 'b' }], '[0] needs "id"'],
  ['put_servers', [{ ...one, id: 'x' }], '[0].id must be a UUID with lowercase hex digits'],
  ['put_servers', [{ ...one, edition: null }], '[0].edition must be a string'],
  ['put_servers', [one, one], '[1] is the same as [0]'],
  [
    'put_keys',
    [{ ...key, key_hash: 'x' }],
    '[0].key_hash must be the SHA-256 of a full key: 64 hex digits (32 bytes)',
  ],
  ['put_keys', [{ ...key, name: ' ' }], '[0].name must have 1 to 64 characters'],
  ['put_keys', [{ ...key, name: 'a'.repeat(65) }], '[0].name must have 1 to 64 characters'],
  ['put_keys', [{ ...key, name: 'a\u0007b' }], '[0].name must have no control characters'],
  [
    'put_keys',
    [{ ...key, prefix: 'svc_live_01234567' }],
    '[0].prefix must be the first characters of the key, at most 16, and begin with svc_live_',
  ],
  ['put_keys', [key, { ...key, key_hash: key.key_hash.toUpperCase() }], '[1] is the same as [0]'],
  ['revoke_keys', [user], '[0] needs either "id" or "key_hash"'],
  [
    'revoke_keys',
    [{ ...user, id: idOf(1), key_hash: key.key_hash }],
    '[0] needs either "id" or "key_hash"',
  ],
  ['remove_users', ['1'], '[0] must be an object'],
  ['remove_servers', [{ id: null }], '[0].id must be a string'],
]

test('a mistake of the program is an error that names the place, and changes nothing', async (t) => {
  const { call, own } = await openSite(t, server)
  for (const [act, rows, complaint] of MISTAKES) {
    const message = `${act}: ${complaint}`
    await assert.rejects(call(act, rows), { code: '22023', message }, message)
  }
  assert.deepEqual(await own('SELECT FROM users'), [])
})
