import { ADA, BOB, type Case, CID, key, LATER } from './case.ts'

/** Which user a record means, and what it changes about the user. */
export const USER_CASES: Case[] = [
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
    plan: ['~ user ada@example.com banned', '~ user cid@example.com enabled, banned'],
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
    says: [
      'put_users[0].created_at: lies in the future',
      'put_users[0].disabled_at: lies in the future',
    ],
  },
  {
    name: 'a user without a name is a mistake',
    file: { users: [{ id: '@user new' }, { id: '@user bob', email: null }] },
    says: [
      'put_users[0]: needs an "email" or an "external_id"',
      'put_users[1]: needs an "email" or an "external_id"',
    ],
  },
  {
    name: 'a row that names no user is a mistake',
    file: { users: [{ keys: [] }] },
    says: ['put_users[0]: needs an "external_id", an "id" or an "email"'],
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
      'put_users[2].id: must be the id of cid@example.com, @user cid, or be left out',
      'put_users[0].email: is the address of another user',
      'put_users[3].email: is the address of another user',
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
      'put_users[1].email: is "ada@example.com", as of put_users[0]',
      'put_users[3].external_id: is "1", as of put_users[2]',
      'put_users[4].id: is "@user ada", as of put_users[0]',
    ],
  },
  {
    name: 'no user of the site gets an address of OPERATORS',
    file: { users: [{ external_id: '1', email: 'op@example.com' }] },
    says: ['put_users[0].email: is an address of OPERATORS, which no user of a site gets'],
  },
  {
    name: 'a user without an external id can have an address of OPERATORS',
    file: { users: [{ email: 'op@example.com' }] },
    rows: ['+ user op -'],
    entries: ['user added op'],
  },
  {
    name: 'two rows that mean one user are a mistake',
    file: { users: [ADA, { external_id: '1' }, { ...BOB, id: '@user bob' }] },
    says: ['put_users[1]: means the same user as put_users[0]'],
  },
  {
    name: 'users swap their addresses',
    file: {
      users: [
        { external_id: '1', email: 'bob@example.com' },
        { id: '@user bob', email: 'ada@example.com' },
      ],
    },
    rows: [
      '~ key ada a → key bob a',
      '~ key ada b → key bob b',
      '~ key ada old revoked → key bob old revoked',
      '~ key bob his → key ada his',
      '~ member blue ada owner → member blue bob owner',
      '~ member red ada owner → member red bob owner',
      '~ member red bob member → member red ada member',
      '~ server ada one → server bob one',
      '~ server ada two of red → server bob two of red',
      '~ server bob four of red → server ada four of red',
      '~ server bob three → server ada three',
      '~ server bob twin → server ada twin',
      '~ server bob twin → server ada twin',
      '~ user ada 1 → user bob 1',
      '~ user bob - → user ada -',
    ],
    entries: ['e-mail changed ada', 'e-mail changed bob'],
  },
  {
    name: 'a whole list of users bans the others of the site, and apart from the operator',
    file: { users: [{ external_id: '1' }], all_users: true },
    rows: ['~ user cid 3 disabled → user cid 3 disabled banned'],
    entries: ['user banned cid'],
    plan: ['~ user cid@example.com banned'],
  },
  {
    name: 'removed users go with what they have',
    file: { remove_users: [{ email: 'bob@example.com' }, { external_id: '9' }] },
    rows: [
      '- key bob his',
      '- member red bob member',
      '- server bob three',
      '- server bob twin',
      '- server bob twin',
      '- user bob -',
      '~ server bob four of red → server ada four of red',
    ],
    entries: [],
  },
]
