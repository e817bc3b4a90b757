import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { empty, fileOf, hashOf } from './files.ts'

const IMPORT = 'key import --user ada@example.com --hash-file -'

/** The lines below the first one. */
const said = (stderr: string) => stderr.split('\n').slice(1, -1)

test('every mistake is named at once with its place, and nothing is applied', async (t) => {
  const { run, exported } = await empty(t)
  const before = await exported()
  const clear = generateKey()
  const [ADA, BOB] = [{ email: 'ada@example.com' }, { email: 'bob@example.com' }]
  const shapes = await run('apply - --yes', {
    stdin: JSON.stringify({
      format_version: 2,
      put_users: [{ email: 'nowhere', more: 1 }, ADA, 7, { ...BOB, disabled_at: 1 }],
      put_servers: [{ ...ADA, name: 'A', address: 'a b', slug: 'ü/', other: 2 }],
      put_keys: [
        { ...ADA, name: '', key_hash: 'abcd' },
        { ...ADA, key_hash: clear },
        { ...BOB, name: 'bot', prefix: 'sk_', key_hash: hashOf('a') },
        { ...BOB, name: 'bot', key_hash: hashOf('b'), created_at: 'yesterday', [clear]: 'x' },
      ],
      put_members: [{ slug: 'Red', role: 'boss', ...ADA }],
      remove_servers: [{ id: 'x' }, {}],
      all_users: 1,
      revoke_keys: [ADA],
    }),
  })
  assert.deepEqual([shapes.code, shapes.stdout], [1, ''])
  assert.match(shapes.stderr, /^error: nothing was changed: standard input has 20 mistakes:\n/)
  assert.ok(!shapes.stderr.includes(clear.slice(9, 20)), shapes.stderr)
  for (const [index, wanted] of [
    /^ {2}put_users\[0\]\.email: an email address must look like .*"nowhere"$/,
    /^ {2}put_users\[0\]\.more: is not a field of put_users$/,
    /^ {2}put_users\[2\]: must be an object$/,
    /^ {2}put_users\[3\]\.disabled_at: must be a string or null$/,
    /^ {2}put_servers\[0\]\.address: must be a domain .*"a b"$/,
    /^ {2}put_servers\[0\]\.slug: must have only letters.*"ü\/"$/,
    /^ {2}put_servers\[0\]\.other: is not a field of put_servers$/,
    /^ {2}put_keys\[0\]\.name: must have 1 to 64 characters, not 0$/,
    /^ {2}put_keys\[0\]\.key_hash: must be the SHA-256 .*64 hex digits \(32 bytes\)$/,
    /^ {2}put_keys\[1\]\.key_hash: has an API key in clear\. .*"key_hash" or .*"key_file"/,
    /^ {2}put_keys\[1\]\.name: is missing$/,
    /^ {2}put_keys\[2\]\.prefix: must be the first .*begin with svc_live_/,
    /^ {2}put_keys\[3\]\.created_at: must be an ISO 8601 instant/,
    /^ {2}put_keys\[3\]: is not a field of put_keys$/,
    /^ {2}put_members\[0\]\.slug: A slug can contain only/,
    /^ {2}put_members\[0\]\.role: must be owner or member$/,
    /^ {2}remove_servers\[0\]\.id: must be a UUID/,
    /^ {2}remove_servers\[1\]\.id: is missing$/,
    /^ {2}all_users: must be true$/,
    /^ {2}revoke_keys\[0\]: needs either an "id" or a "key_hash"$/,
  ].entries())
    assert.match(said(shapes.stderr)[index]!, wanted)

  assert.equal(await exported(), before)
})

test('mistakes of key files, between rows and with the database are named', async (t) => {
  const { run, exported } = await empty(t)
  const bob = { email: 'bob@example.com', keys: [{ name: 'his', key_hash: hashOf('a') }] }
  assert.equal((await run('apply - --yes', { stdin: fileOf(bob) })).code, 0)
  const before = await exported()
  const rows = await run('apply - --yes', {
    stdin: fileOf(
      { email: 'eva@example.com', keys: [{ name: 'no file', key_file: 'none.key' }] },
      { email: 'EVA@example.com' },
    ),
  })
  assert.deepEqual(said(rows.stderr), [
    '  put_keys[0].key_file: cannot read the file "none.key": it does not exist',
    '  put_users[1].email: is "eva@example.com", as of put_users[0]',
  ])
  const stored = await run('apply - --yes', {
    stdin: fileOf({ email: 'ada@example.com', keys: bob.keys }),
  })
  assert.deepEqual(said(stored.stderr), [
    '  put_keys[0].key_hash: is the hash of a key of another user',
  ])
  assert.equal(await exported(), before)
})

test('text that is not JSON is refused without repeating it', async (t) => {
  const { run, exported } = await empty(t)
  const before = await exported()
  const key = generateKey()
  for (const text of [`{"users": ${key}}`, key, '', '{"a": 1', `["${key}" 7]`]) {
    const { code, stderr } = await run('apply - --yes', { stdin: text })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^error: nothing was changed: standard input is not JSON( \(line \d+ column \d+\))?\n$/,
    )
  }
  assert.equal(await exported(), before)
})

test('a table with a mistake is refused with its row, and no key is imported', async (t) => {
  const { run, exported } = await empty(t)
  await run('user add ada@example.com')
  const before = await exported()
  const key = generateKey()
  const [a, b] = [hashOf('svc_live_a'), hashOf('svc_live_b')]
  for (const [text, wanted] of [
    [`key_hash,name\n${a},a\n\n${key},b\n`, /row 4\.key_hash: has an API key in clear/],
    [`key_hash,name\n${a},a\n${a},b\n`, /row 3\.key_hash: is the same key, as of row 2\n/],
    [`key_hash,name\n${a},\n`, /row 2\.name: is missing/],
    [`key_hash,name\n${a.slice(1)},a\n`, /row 2\.key_hash: must be the SHA-256/],
    [`key_hash,name,prefix\n${a},a,pk_live_12\n`, /row 2\.prefix: .*must begin with svc_live_/],
    [`key_hash,name,last_used_at\n${a},a,2100-01-01T00:00:00Z\n`, /row 2\.last_used_at: lies in/],
    [
      `key_hash,name,key\n${a},a,x\n`,
      /has a column "key"\. The columns are external_id, name, key_hash, prefix/,
    ],
    [`key_hash,name\n${a},a,x\n`, /has more cells in row 2 than in the first row/],
    [`key_hash,name\n${a},"a\n`, /has a cell in row 2 that begins with " and does not end/],
    [
      `[{"name":"a","key_hash":"${a}"},{"name":"b","key_hash":"${b}","key":"x"}]`,
      /keys\[1\]\.key: is/,
    ],
    ['{"name":"a"}', /keys: must be an array/],
    ['', /is not JSON/],
    [
      `key_hash,name\n${[1, 2, 3, 4, 5, 6].map((n) => `${hashOf(`svc_live_${n}`)},${n}\n`).join('')}`,
      /row 7: would be active key 6 of "ada@example/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await run(IMPORT, { stdin: text })
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.match(stderr, /^error: nothing was changed: standard input /)
    assert.match(stderr, wanted)
    assert.ok(!stderr.includes(key.slice(9, 20)), stderr)
  }
  assert.equal(await exported(), before)
})
