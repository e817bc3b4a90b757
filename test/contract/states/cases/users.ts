import { ADA, BOB, type Case, CID, key, LATER } from './case.ts'

/** Which user a record means, and what it changes about the user. */
export const USER_CASES: Case[] = [
  {
    name: 'users whom the file leaves out stay, also when pruning',
    file: { users: [] },
    prune: true,
    rows: [],
    entries: [],
  },
  {
    name: 'the external id names a user first, then the id, then the address',
    file: {
      users: [
        { external_id: '3', email: 'new@example.com' },
        { id: '@user ada', external_id: '11' },
        { ...BOB, external_id: '2' },
      ],
    },
    rows: [
      '~ user ada 1 → user ada 11',
      '~ user bob - → user bob 2',
      '~ user cid 3 disabled → user new 3 disabled',
    ],
    entries: ['e-mail changed new', 'external id changed ada', 'external id changed bob'],
    plan: [
      '~ user new@example.com email "cid@example.com" → "new@example.com"',
      '~ user ada@example.com external_id "1" → "11"',
      '~ user bob@example.com external_id null → "2"',
    ],
  },
  {
    name: 'disabled_at disables and enables a user',
    file: {
      users: [
        { ...ADA, disabled_at: '2026-01-01T00:00:00Z' },
        { ...CID, disabled_at: null },
      ],
    },
    rows: ['~ user ada 1 → user ada 1 disabled', '~ user cid 3 disabled → user cid 3'],
    entries: ['user disabled ada', 'user enabled cid'],
    plan: [
      '~ user ada@example.com disabled at 2026-01-01T00:00:00.000000Z',
      '~ user cid@example.com enabled',
    ],
  },
  {
    name: 'banned_at bans a user, and lifts no word of an operator',
    file: {
      users: [
        { ...ADA, banned_at: '2026-01-01T00:00:00Z' },
        { ...CID, banned_at: '2026-01-01T00:00:00Z', disabled_at: null },
      ],
    },
    rows: ['~ user ada 1 → user ada 1 banned', '~ user cid 3 disabled → user cid 3 banned'],
    entries: ['user banned ada', 'user banned cid', 'user enabled cid'],
    plan: [
      '~ user ada@example.com banned at 2026-01-01T00:00:00.000000Z',
      '~ user cid@example.com enabled, banned at 2026-01-01T00:00:00.000000Z',
    ],
  },
  {
    name: 'the first instant of a disabled user stays',
    file: { users: [{ ...CID, disabled_at: '2026-02-01T00:00:00Z' }] },
    rows: [],
    entries: [],
  },
  {
    name: 'a new user can be disabled already, with an external id only',
    file: { users: [{ external_id: '9', disabled_at: '2026-01-01T00:00:00Z' }] },
    rows: ['+ user - 9 disabled'],
    entries: ['user added -'],
  },
  {
    name: 'null takes an address away from a user with another name',
    file: { users: [{ id: '@user cid', email: null }] },
    rows: ['~ user cid 3 disabled → user - 3 disabled'],
    entries: ['e-mail changed -'],
  },
  {
    name: 'a user with an identity needs no other name',
    file: { users: [{ id: '@user dan', keys: [key('new')] }] },
    rows: ['+ key - new svc_live_'],
    entries: ['key imported -'],
  },
  {
    name: 'a user who begins or ends in the future is a mistake',
    file: { users: [{ ...ADA, created_at: LATER, disabled_at: LATER }] },
    says: ['users[0].created_at: lies in the future', 'users[0].disabled_at: lies in the future'],
  },
  {
    name: 'a user without a name is a mistake',
    file: { users: [{ keys: [] }, { id: '@user new' }, { id: '@user bob', email: null }] },
    says: [
      'users[0]: needs an "external_id", an "id" or an "email"',
      'users[0]: needs an "email" or an "external_id"',
      'users[1]: needs an "email" or an "external_id"',
      'users[2]: needs an "email" or an "external_id"',
    ],
  },
  {
    name: 'a user who has the address of another record is a mistake',
    file: {
      users: [
        { external_id: '1', email: 'bob@example.com' },
        { external_id: '2', email: 'ada@example.com' },
        { external_id: '3', id: '@user bob' },
        { external_id: '8', email: 'cid@example.com' },
      ],
    },
    says: [
      'users[0].email: is the address of another user, whose id is @user bob. Change the address of that user first, in a run of its own',
      'users[1].email: is the address of another user, whose id is @user ada and external id "1". Change the address of that user first, in a run of its own',
      'users[2].id: must be the id of cid@example.com, @user cid, or be left out',
      'users[3].email: is the address of another user, whose id is @user cid and external id "3". Change the address of that user first, in a run of its own',
    ],
  },
  {
    name: 'a user whom the file has twice is a mistake',
    file: {
      users: [
        { ...ADA, id: '@user ada' },
        { email: 'ADA@example.com' },
        { external_id: '1' },
        { external_id: '1', email: 'x@example.com' },
        { external_id: '2', id: '@user ada' },
      ],
    },
    says: [
      'users[3].external_id: is "1", as of users[2]',
      'users[1].email: is "ada@example.com", as of users[0]',
      'users[4].id: is "@user ada", as of users[0]',
      'users[1]: means the same user as users[0]',
      'users[2]: means the same user as users[0]',
      'users[3]: means the same user as users[0]',
      'users[4]: means the same user as users[0]',
    ],
  },
]
