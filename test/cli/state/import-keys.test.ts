import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey, prefixOf } from '../../../src/listing/api-key.ts'
import { ask } from '../../fixtures/requests.ts'
import { runHere } from '../here.ts'
import { programIn } from '../program.ts'
import { empty, hashOf } from './files.ts'

const IMPORT = 'key import --user ada@example.com --hash-file -'

test("keys of another site keep working by their hashes, beside the user's own keys", async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create')
  await program.done('key issue --user ada@example.com --name own')
  // Another site may have made keys of another length.
  const [one, other] = [generateKey(), 'svc_live_0a1b2c']
  const table = `name;key_hash;prefix;last_used_at\none;${hashOf(one)};${prefixOf(one)};2026-01-31T12:00:00Z\n"other";${hashOf(other)};;\n`
  const { port } = await program.serve()
  const first = await program.run(IMPORT, { stdin: table })
  assert.match(first.stderr, /^imported 2 keys for ada@example\.com: 2 new, 0 known\ndatabase: /)
  const json = JSON.stringify([{ name: 'one', key_hash: hashOf(one).toUpperCase() }])
  const second = await program.run(`${IMPORT} --json`, { stdin: json })
  assert.match(second.stderr, /^imported 1 key for ada@example\.com: 0 new, 1 known\n/)
  assert.deepEqual(JSON.parse(second.stdout).changes, [])
  const listed = JSON.parse(await program.done('key list --json'))
  const byName = new Map<string, Record<string, string>>(
    listed.map((one: Record<string, string>) => [one.name, one]),
  )
  // Keys of one import have one instant, so that their order depends on their ids.
  assert.deepEqual(
    ['own', 'one', 'other']
      .map((name) => byName.get(name)!)
      .map(({ name, prefix, last_used_at }) => [
        name,
        prefix === prefixOf(one) || prefix,
        last_used_at,
      ]),
    [
      ['own', byName.get('own')!.prefix, null],
      ['one', true, '2026-01-31T12:00:00.000000Z'],
      ['other', 'svc_live_', null],
    ],
  )
  for (const key of [one, other]) assert.equal((await ask(port, { key })).status, 200)
})

test('a table with a mistake is refused with its row, and no key is imported', async (t) => {
  const { exported } = await empty(t)
  await runHere('user add ada@example.com')
  const before = await exported()
  const key = generateKey()
  const [a, b] = [hashOf('svc_live_a'), hashOf('svc_live_b')]
  for (const [text, wanted] of [
    [`key_hash,name\n${a},a\n\n${key},b\n`, /row 4 key_hash: has an API key in clear/],
    [`key_hash,name\n${a},a\n${a},b\n`, /row 3 key_hash: is the same key, as of row 2\n/],
    [`key_hash,name\n${a},\n`, /row 2 name: is missing/],
    [`key_hash,name\n${a.slice(1)},a\n`, /row 2 key_hash: must be the SHA-256/],
    [`key_hash,name,prefix\n${a},a,pk_live_12\n`, /row 2 prefix: .*must begin with svc_live_/],
    [`key_hash,name,last_used_at\n${a},a,2100-01-01T00:00:00Z\n`, /row 2 last_used_at: lies in/],
    [`key_hash,name,key\n${a},a,x\n`, /has a column "key"\. The columns are key_hash, name/],
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
    const { code, stdout, stderr } = await runHere(IMPORT, text)
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.match(stderr, /^error: nothing was changed: standard input /)
    assert.match(stderr, wanted)
    assert.ok(!stderr.includes(key.slice(9, 20)), stderr)
  }
  assert.equal(await exported(), before)
})
