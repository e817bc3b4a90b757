/*
 * Mistakes of a program. Each comes in the second row, behind a good one of the same act, which
 * nothing may write.
 */

/** A row of each act without a mistake that would change something. */
export const GOOD = {
  put_users: 'external_id=new',
  put_organizations: 'slug=new name=New external_id=bob',
  put_members: 'slug=red external_id=eve role=member',
  put_servers: 'id=@new external_id=bob name=new address=new.example.com',
  put_keys: 'external_id=bob name=n key_hash=#n',
  revoke_keys: 'external_id=ada key_hash=#a',
  remove_servers: 'id=@one',
  remove_members: 'slug=red external_id=bob',
  remove_organizations: 'slug=blue',
  remove_users: 'external_id=dan',
}

export type Act = keyof typeof GOOD

/** The row with the mistake, before its fields change. */
export const SECOND: Record<Act, string> = {
  put_users: 'external_id=second',
  put_organizations: 'slug=second name=Second external_id=bob',
  put_members: 'slug=red external_id=dan role=member',
  put_servers: 'id=@second external_id=bob name=second address=second.example.com',
  put_keys: 'external_id=bob name=m key_hash=#m',
  revoke_keys: 'external_id=ada key_hash=#b',
  remove_servers: 'id=@three',
  remove_members: 'slug=red external_id=ada',
  remove_organizations: 'slug=red',
  remove_users: 'external_id=ada',
}

const INSTANT = 'must be an ISO 8601 instant such as 2026-01-31T12:00:00Z'
const LONG = 'must have 1 to 255 characters'
const CONTROL = 'must have no control characters'
const UUID = 'must be a UUID (8-4-4-4-12 hex digits)'
const HASH = 'must be the SHA-256 of a full key'
const SLUG = 'A slug can contain only lowercase letters'

/** The optional fields of each act. Null empties those behind the stroke. */
export const OPTIONAL: Partial<Record<Act, string>> = {
  put_users: 'created_at | email banned_at',
  put_members: 'joined_at |',
  put_servers: 'edition status updated_at | slug version listing_kind organization',
  put_keys: 'prefix created_at | revoked_at',
}

/** What an act says about a value of a field. */
export const VALUES: [act: Act, field: string, values: string[], complaint: string][] = [
  ['put_users', 'external_id', ['', 'x{256}', '🧱{256}'], LONG],
  ['put_users', 'external_id', ['a\\u0001', '\\n', 'a\\u007f', '\\u0085'], CONTROL],
  ['put_servers', 'external_id', ['', 'x{256}'], LONG],
  ['put_keys', 'external_id', ['', 'x{256}'], LONG],
  ['put_organizations', 'external_id', [''], LONG],
  ['put_members', 'external_id', [''], LONG],
  ['revoke_keys', 'external_id', [''], LONG],
  ['remove_members', 'external_id', [''], LONG],
  ['remove_users', 'external_id', [''], LONG],
  [
    'put_users',
    'created_at',
    [
      '',
      '2026-01-31',
      '2026-01-31T12:00:00',
      '2026-02-30T12:00:00Z',
      '2026-01-31T25:00:00Z',
      '31.01.2026 12:00:00Z',
      'infinity',
      'now',
      '1769860800',
      ' 2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00Zulu',
    ],
    INSTANT,
  ],
  [
    'put_users',
    'banned_at',
    ['', 'yesterday', '2026-13-01T00:00:00Z', '2026-02-29T00:00:00Z'],
    INSTANT,
  ],
  ['put_members', 'joined_at', ['', '2026-01-31'], INSTANT],
  ['put_servers', 'updated_at', ['', '2026-01-31'], INSTANT],
  ['put_keys', 'created_at', ['', '2026-01-31'], INSTANT],
  ['put_keys', 'revoked_at', ['', '2026-01-31'], INSTANT],
  [
    'put_servers',
    'id',
    ['', '1', 'a0000000000040008000000000000000', '{a0000000-0000-4000-8000-000000000000}'],
    UUID,
  ],
  ['remove_servers', 'id', ['', 'x'], UUID],
  ['put_keys', 'key_hash', ['', 'abc', 'x{64}', 'a{63}', 'a{65}'], HASH],
  ['revoke_keys', 'key_hash', ['', '\\\\x00'], HASH],
  [
    'put_keys',
    'name',
    ['', '   ', '\\u1680\\u2003\\u2028\\u205f', 'x{65}'],
    'must have 1 to 64 characters',
  ],
  ['put_keys', 'name', ['a\\nb'], CONTROL],
  [
    'put_keys',
    'prefix',
    ['', 'sk_live_', 'svc_live_01234567', 'svc_live_ü'],
    'must be the first characters of the key, at most 16',
  ],
  ['put_members', 'role', ['', 'admin', 'Owner'], 'must be owner or member'],
  ['put_organizations', 'slug', ['', 'Red', 'a--b', '-a', 'a_b', 'x{65}'], SLUG],
  [
    'put_organizations',
    'name',
    ['', ' ', '\\u2000\\u200a\\u2029\\u202f', 'x{101}'],
    'must have 1 to 100 characters',
  ],
  ['put_organizations', 'name', ['a\\nb'], CONTROL],
]

/** A second row of an act that means the record of the first one, and the field that says so. */
export const TWICE: [act: Act, row: string, field: string][] = [
  ['put_users', 'external_id=new email=x@example.com', 'external_id'],
  ['put_organizations', 'slug=new name=N external_id=ada', 'slug'],
  ['put_members', 'slug=red external_id=eve role=owner', 'slug'],
  ['put_servers', 'id=@new external_id=ada name=n address=n', 'id'],
  ['put_keys', 'external_id=ada name=m key_hash=#N', 'key_hash'],
]
