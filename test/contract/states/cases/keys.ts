import { ADA, BOB, type Case, CID, key, LATER } from './case.ts'

const six = ['a', 'n1', 'n2', 'n3', 'n4', 'n5'].map(key)

/** What becomes of keys. */
export const KEY_CASES: Case[] = [
  {
    name: 'an absent list of keys keeps the keys, also when pruning',
    file: { users: [{ ...ADA, servers: [] }, BOB] },
    prune: true,
    rows: ['- server ada one', '- server ada two of red'],
    entries: ['servers imported ada: 0 new, 0 changed, 2 removed'],
  },
  {
    name: 'an empty list of keys keeps the keys',
    file: { users: [{ ...ADA, keys: [] }] },
    rows: [],
    entries: [],
  },
  {
    name: 'pruning with an empty list of keys revokes the active ones',
    file: { users: [{ ...ADA, keys: [] }] },
    prune: true,
    rows: ['~ key ada a → key ada a revoked', '~ key ada b → key ada b revoked'],
    entries: ['key revoked ada', 'key revoked ada'],
  },
  {
    name: 'pruning revokes the keys that the list leaves out, of this user',
    file: { users: [{ ...ADA, keys: [key('a')] }] },
    prune: true,
    rows: ['~ key ada b → key ada b revoked'],
    entries: ['key revoked ada'],
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
      'users[0].keys[4]: would be active key 6 of this user, and the maximum is 5; revoke one first',
      'users[0].keys[5]: would be active key 7 of this user, and the maximum is 5; revoke one first',
    ],
  },
  {
    name: 'a key that pruning revokes makes room for a new one',
    file: { users: [{ ...ADA, keys: six.slice(1) }] },
    prune: true,
    rows: [
      ...six.slice(1).map(({ name }) => `+ key ada ${name} svc_live_`),
      '~ key ada a → key ada a revoked',
      '~ key ada b → key ada b revoked',
    ],
    entries: [...six.slice(1).map(() => 'key imported ada'), 'key revoked ada', 'key revoked ada'],
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
      'users[0].keys[0].key_hash: is the hash of a key of another user',
      'users[0].keys[1].id: must be the id of this key, @key a, or be left out',
      'users[0].keys[2].id: is the id of another key',
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
      'users[0].keys[0].key_file: names a file that is not one API key and a line end. A key begins with svc_live_',
      'users[0].keys[1].key_file: stands beside "key_hash"; a key needs one of the two',
      'users[0].keys[2].key_hash: is missing; a key needs "key_hash" or "key_file"',
      'users[0].keys[3].prefix: is not how the key in "key_file" begins',
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
      'users[0].keys[0].created_at: lies in the future',
      'users[0].keys[0].revoked_at: lies in the future',
      'users[0].keys[0].last_used_at: lies in the future',
      'users[0].keys[1].revoked_at: lies in the future',
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
      'users[2].keys[0].id: is "@key his", as of users[1].keys[1]',
      'users[0].keys[1].key_hash: is the same key, as of users[0].keys[0]',
      'users[1].keys[0].key_hash: is the same key, as of users[0].keys[0]',
      'users[2].keys[0].id: is the id of another key',
    ],
  },
]
