import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkKeyName, generateKey, prefixOf } from '../../src/keys/api-key.ts'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { formatInstant, parseInstant, presentInstant } from '../../src/model/instant.ts'
import { renderServers } from '../../src/model/server-row.ts'
import { countOf, quote } from '../../src/model/text.ts'
import { slotOf } from '../../src/model/usage-counts.ts'
import { complaintAboutExternalId, createUser, nameOf } from '../../src/accounts/user.ts'
import { checkEmail } from '../../src/model/email.ts'

test('a new key is the fixed prefix and 64 random lowercase hex digits', () => {
  const keys = new Set(Array.from({ length: 1_000 }, generateKey))
  assert.equal(keys.size, 1_000)
  for (const key of keys) assert.match(key, /^svc_live_[0-9a-f]{64}$/)
})

test("the store has only a key's SHA-256 and 16 characters", () => {
  assert.equal(
    hashApiKey('abc').toString('hex'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
  assert.equal(prefixOf('svc_live_0123456789abcdef'), 'svc_live_0123456')
})

test("the hashes of keys take no memory outside of V8's heap", () => {
  const before = process.memoryUsage().arrayBuffers
  const held = Array.from({ length: 10_000 }, (_, index) => hashApiKey(String(index)))
  const taken = process.memoryUsage().arrayBuffers - before
  assert.ok(taken < held.length, `${held.length} hashes take ${taken} bytes`)
})

test('a rendered listing has memory of its own, not a part of a pool', () => {
  const body = renderServers([])
  assert.equal(body.buffer.byteLength, body.length)
})

test('a key name has 1 to 64 code points, whatever the script', () => {
  for (const character of ['a', '가', '😀']) {
    assert.deepEqual(checkKeyName(character.repeat(64)), { name: character.repeat(64) })
    assert.ok('complaint' in checkKeyName(character.repeat(65)))
  }
  assert.deepEqual(checkKeyName('  Discord bot  '), { name: 'Discord bot' })
  for (const name of ['', '   ', '\n', 'a\0b', 'a\u0007b', 'a\nb', 'a\u2028b', '\ud800'])
    assert.ok('complaint' in checkKeyName(name), JSON.stringify(name))
})

test('an error about a name quotes it and says what is required', () => {
  assert.deepEqual(checkKeyName(''), {
    complaint: `a key's name must have 1 to 64 characters, not 0: ""`,
  })
  assert.deepEqual(checkKeyName('a\nb'), {
    complaint: `a key's name must have no control characters: "a\\nb"`,
  })
  for (const name of ['\u3164', '\u2800 \u115f', '\ufe0f', '\u200b\u200d', '\u{e0041}'])
    assert.match(
      (checkKeyName(name) as { complaint: string }).complaint,
      /^a key's name must have a character that can be seen: "(\\u\{[0-9a-f]+\} ?)+"$/,
    )
  assert.deepEqual(checkKeyName('\ud800'), {
    complaint: `a key's name must be well-formed Unicode: "\\ud800"`,
  })
})

test('an email address is stored in lower case', () => {
  assert.deepEqual(checkEmail('Ada@Example.com'), { email: 'ada@example.com' })
  assert.deepEqual(checkEmail('root@localhost'), { email: 'root@localhost' })
  for (const email of [
    '',
    'ada',
    '@b.c',
    'a@',
    'a@b..c',
    'a b@c.d',
    'a@b.c,d@e.f',
    'a@b\n.c',
    `${'a'.repeat(250)}@b.cc`,
  ])
    assert.ok('complaint' in checkEmail(email), JSON.stringify(email))
  assert.ok('email' in checkEmail(`${'a'.repeat(249)}@b.cc`))
  assert.ok('email' in checkEmail('x@xn--mller-kva.example'))
  assert.deepEqual(checkEmail('ada'), {
    complaint: 'an email address must look like name@example.com, not "ada"',
  })
})

test("a user can't have an address that looks like another one", () => {
  const invisible = ['\u3164', '\u115f', '\uffa0', '\ufe00', '\u{e0100}', '\u2800', '\u034f']
  const lookalikes = ['\u0430da', 'a\u0308da', '\u00e4da', ...invisible.map((one) => `ada${one}`)]
  for (const local of lookalikes) {
    const email = `${local}@example.com`
    const checked = checkEmail(email)
    assert.ok('complaint' in checked, email)
    assert.match(checked.complaint, /^an email address must have only ASCII characters/)
  }
  const [shown] = invisible.map((one) => checkEmail(`ada${one}@example.com`))
  assert.ok(
    'complaint' in shown! && shown.complaint.includes(String.raw`"ada\u{3164}@example.com"`),
  )
  for (const email of ['ada', 'a\u200b@b.c', 'a b@c.d', `${'ä'.repeat(250)}@b.cc`])
    assert.ok('complaint' in checkEmail(email), email)
})

test('a user is named by the address, else by the external id, else by the id', () => {
  const user = { id: 'id', email: 'ada@example.com', external_id: '4711' }
  assert.equal(nameOf(user), 'ada@example.com')
  assert.equal(nameOf({ ...user, email: null }), '4711')
  assert.equal(nameOf({ ...user, email: null, external_id: null }), 'id')
})

test('an external id is a line of 1 to 255 characters', () => {
  for (const fine of ['1', ' a b ', '\u00e4', 'x'.repeat(255)])
    assert.equal(complaintAboutExternalId(fine), null)
  for (const wrong of ['', 'x'.repeat(256), 'a\nb', 'a\0', '\u200b', '\ud800'])
    assert.match(complaintAboutExternalId(wrong) ?? '', /^an external id must /)
})

test('a new user has a new id and the present time', () => {
  const before = presentInstant()
  const [ada, bob] = [createUser('ada@example.com'), createUser('bob@example.com')]
  assert.equal(ada.email, 'ada@example.com')
  assert.match(ada.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.notEqual(ada.id, bob.id)
  assert.ok(before <= ada.created_at && ada.created_at <= presentInstant())
  assert.ok(Math.abs(before - Date.now() * 1000) < 60_000_000)
})

test('usage is counted in time slots of ten minutes', () => {
  assert.equal(slotOf(0), 0)
  assert.equal(slotOf(599_999_999), 0)
  assert.equal(slotOf(600_000_000), 1)
})

test('an instant is read to the microsecond, with its offset, and written in UTC', () => {
  assert.equal(parseInstant('1970-01-01T00:00:01Z'), 1_000_000)
  assert.equal(parseInstant('2026-01-31T12:00:00.123456+02:00'), 1_769_853_600_123_456)
  // As psql and date print them.
  for (const offset of ['+02', '+0200', '+02:00'])
    assert.equal(parseInstant(`2026-01-31 12:00:00.123456${offset}`), 1_769_853_600_123_456)
  for (const offset of ['', '+2', '+020', '+02:0', '+99', ' +02'])
    assert.equal(parseInstant(`2026-01-31 12:00:00${offset}`), null)
  assert.equal(parseInstant('2026-01-31 12:00:00.1234567Z'), 1_769_860_800_123_456)
  assert.equal(formatInstant(1_769_853_600_123_456), '2026-01-31T10:00:00.123456Z')
  assert.equal(parseInstant('2026-01-31t12:00:00.5z'), 1_769_860_800_500_000)
  assert.equal(parseInstant('2026-01-31T12:00:00.000005Z'), 1_769_860_800_000_005)
  assert.equal(formatInstant(1_000_005), '1970-01-01T00:00:01.000005Z')
  assert.equal(formatInstant(-1), '1969-12-31T23:59:59.999999Z')
  for (const text of [
    '',
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-02-30T12:00:00Z',
    '2026-01-31T25:00:00Z',
    'x2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00Zx',
    'now',
  ])
    assert.equal(parseInstant(text), null, text)
})

test('a server is rendered with its eight fields and no others', () => {
  const row = {
    id: '1',
    name: '</script>',
    slug: null,
    host_label: 'a',
    edition: 'java',
    status: 's',
    version: null,
    listing_kind: null,
  }
  const more = { ...row, created_by: 'x', organization_id: null, updated_at: 1 }
  assert.equal(
    renderServers([more]).toString(),
    '{"servers":[{"id":"1","name":"</script>","slug":null,"address":"a","edition":"java","status":"s",' +
      '"version":null,"listing_kind":null}]}',
  )
})

test('a quoted value is one short line', () => {
  assert.equal(quote('a\nb'), '"a\\nb"')
  assert.equal(quote('x'.repeat(78)), `"${'x'.repeat(78)}"`)
  assert.equal(quote('x'.repeat(79)), `"${'x'.repeat(76)}…`)
  assert.equal([...quote('x'.repeat(500))].length, 78)
  assert.equal(quote(undefined), 'undefined')
  assert.equal(quote('a\u202eb\u3164'), String.raw`"a\u{202e}b\u{3164}"`)
})

test('a counted noun is plural unless it is one, and the number has separators', () => {
  assert.deepEqual(
    [0, 1, 1_200].map((number) => countOf(number, 'server')),
    ['0 servers', '1 server', '1,200 servers'],
  )
})

test('a value of any depth can be quoted', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
  assert.equal(quote(deep), `${'['.repeat(77)}…`)
  const object = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
  assert.ok(quote(object).startsWith('{"a":{"a":'))
  assert.equal(quote({ __proto__: null, a: [1, { b: null }] }), '{"a":[1,{"b":null}]}')
})
