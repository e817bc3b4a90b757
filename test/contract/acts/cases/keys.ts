import { ADA, BOB, type Case, CID, key, LATER } from './case.ts'

const six = ['a', 'n1', 'n2', 'n3', 'n4', 'n5'].map(key)

/** What becomes of keys. */
export const KEY_CASES: Case[] = [
  {
    name: 'an empty list of keys keeps the keys',
    file: { users: [{ ...ADA, keys: [] }] },
    rows: [],
    entries: [],
  },
  {
    name: 'a list of keys adds and renames keys, and keeps those that it leaves out',
    file: { users: [{ ...ADA, keys: [{ ...key('a'), name: 'renamed' }, key('new')] }] },
    rows: ['+ key ada new svc_live_', '~ key ada a → key ada renamed'],
    entries: ['key imported ada', 'key renamed ada'],
  },
  {
    name: 'a key gets another prefix, which the audit log does not mention',
    file: { users: [{ ...ADA, keys: [{ ...key('a'), prefix: 'svc_live_new' }] }] },
    rows: ['~ key ada a → key ada a svc_live_new'],
    entries: [],
  },
  {
    name: 'revoked_at revokes an active key, and a revoked key stays revoked',
    file: {
      users: [{ ...ADA, keys: [{ ...key('a'), revoked_at: '2026-01-01T00:00:00Z' }, key('old')] }],
    },
    rows: ['~ key ada a → key ada a revoked'],
    entries: ['key revoked ada'],
  },
  {
    name: 'a user has at most five active keys',
    file: { users: [{ ...ADA, keys: six }] },
    says: [
      'put_keys[4]: would be active key 6 of "ada@example.com", and the maximum is 5; revoke one first',
      'put_keys[5]: would be active key 7 of "ada@example.com", and the maximum is 5; revoke one first',
    ],
  },
  {
    name: 'a key of another user, another id and the id of another key are mistakes',
    file: {
      users: [
        {
          ...ADA,
          keys: [key('his'), { ...key('a'), id: '@key b' }, { ...key('new'), id: '@key his' }],
        },
      ],
    },
    says: [
      'put_keys[0].key_hash: is the hash of a key of another user',
      'put_keys[1].id: must be the id of this key, @key a, or be left out',
      'put_keys[2].id: is the id of another key',
    ],
  },
  {
    name: 'a file of one key gives its hash and its prefix',
    file: { users: [{ ...ADA, keys: [{ name: 'new', key_file: 'windows.key' }] }] },
    rows: ['+ key ada new svc_live_0123456'],
    entries: ['key imported ada'],
  },
  {
    name: 'a file without one key, beside a hash or with another prefix is a mistake',
    file: {
      users: [
        {
          ...CID,
          keys: [
            { name: 'two', key_file: 'two.key' },
            { ...key('both'), key_file: 'windows.key' },
            { name: 'neither' },
            { name: 'other', key_file: 'windows.key', prefix: 'svc_live_9' },
          ],
        },
      ],
    },
    says: [
      'put_keys[0].key_file: names a file that is not one API key and a line end. A key begins with svc_live_',
      'put_keys[1].key_file: stands beside "key_hash"; a key needs one of the two',
      'put_keys[2].key_hash: is missing; a key needs "key_hash" or "key_file"',
      'put_keys[3].prefix: is not how the key in "key_file" begins',
    ],
  },
  {
    name: 'an instant of a key in the future is a mistake',
    file: {
      users: [
        {
          ...ADA,
          keys: [
            { ...key('new'), created_at: LATER, revoked_at: LATER, last_used_at: LATER },
            { ...key('a'), revoked_at: LATER },
          ],
        },
      ],
    },
    says: [
      'put_keys[0].created_at: lies in the future',
      'put_keys[0].revoked_at: lies in the future',
      'put_keys[0].last_used_at: lies in the future',
      'put_keys[1].revoked_at: lies in the future',
    ],
  },
  {
    name: 'a key that the file has twice is a mistake',
    file: {
      users: [
        { ...ADA, keys: [key('new'), key('new')] },
        { ...BOB, keys: [key('new'), { ...key('his'), id: '@key his' }] },
        { ...CID, keys: [{ ...key('other'), id: '@key his' }] },
      ],
    },
    says: [
      'put_keys[1].key_hash: is the same key, as of put_keys[0]',
      'put_keys[2].key_hash: is the same key, as of put_keys[0]',
      'put_keys[4].id: is "@key his", as of put_keys[3]',
    ],
  },
]
