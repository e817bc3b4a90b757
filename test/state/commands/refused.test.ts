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
  const shapes = await run('apply - --yes', {
    stdin: fileOf(
      { email: 'nowhere', keys: [{ name: '', key_hash: 'abcd' }, { key_hash: clear }], more: 1 },
      { email: 'ada@example.com', keys: [{ name: 'bot', prefix: 'sk_', key_hash: hashOf('a') }] },
      { email: 'ada@example.com', servers: [{ name: 'A', address: 'a b', slug: 'ü/', other: 2 }] },
    ),
  })
  assert.deepEqual([shapes.code, shapes.stdout], [1, ''])
  assert.match(shapes.stderr, /^error: nothing was changed: standard input has 10 mistakes:\n/)
  assert.ok(!shapes.stderr.includes(clear.slice(9, 20)), shapes.stderr)
  for (const [index, wanted] of [
    /^ {2}users\[0\]\.keys\[1\]\.key_hash: has an API key in clear\. .*"key_hash" or .*"key_file"/,
    /^ {2}users\[0\]\.email: an email address must look like .*"nowhere"$/,
    /^ {2}users\[0\]\.keys\[0\]\.name: a key's name must have 1 to 64 characters, not 0/,
    /^ {2}users\[0\]\.keys\[0\]\.key_hash: must be the SHA-256 .*64 hex digits \(32 bytes\)$/,
    /^ {2}users\[0\]\.keys\[1\]\.name: is missing$/,
    /^ {2}users\[0\]\.more: is not a field of a user$/,
    /^ {2}users\[1\]\.keys\[0\]\.prefix: must be the first .*begin with svc_live_/,
    /^ {2}users\[2\]\.servers\[0\]\.address: must be a domain .*"a b"$/,
    /^ {2}users\[2\]\.servers\[0\]\.slug: must have only letters/,
    /^ {2}users\[2\]\.servers\[0\]\.other: is not a field of a server$/,
  ].entries())
    assert.match(said(shapes.stderr)[index]!, wanted)

  assert.equal(await exported(), before)
})

test('mistakes of key files, between records and with the database are named at once', async (t) => {
  const { run, exported } = await empty(t)
  const bob = { email: 'bob@example.com', keys: [{ name: 'his', key_hash: hashOf('a') }] }
  assert.equal((await run('apply - --yes', { stdin: fileOf(bob) })).code, 0)
  const before = await exported()
  const { stderr } = await run('apply - --yes', {
    stdin: fileOf(
      { email: 'ada@example.com', keys: bob.keys },
      { email: 'eva@example.com', keys: [{ name: 'no file', key_file: 'none.key' }] },
      { email: 'EVA@example.com' },
    ),
  })
  assert.deepEqual(said(stderr), [
    '  users[1].keys[0].key_file: cannot read the file "none.key": it does not exist',
    '  users[2].email: is "eva@example.com", as of users[1]',
    '  users[0].keys[0].key_hash: is the hash of a key of another user',
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
      /has a column "key"\. The columns are id, name, key_hash, key_file/,
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
      /row 7: would be active key 6 of this user/,
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
