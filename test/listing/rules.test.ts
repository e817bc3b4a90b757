import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkKeyName, generateKey, hashApiKey, prefixOf } from '../../src/listing/api-key.ts'
import { formatInstant, parseInstant, presentInstant } from '../../src/listing/instant.ts'
import { renderServers } from '../../src/listing/server.ts'
import { quote } from '../../src/listing/text.ts'
import { slotOf } from '../../src/listing/use-counts.ts'
import { checkEmail, createUser } from '../../src/listing/user.ts'

test('a key is the fixed prefix and 64 lower-case hex digits, and no two are alike', () => {
  const keys = new Set(Array.from({ length: 1_000 }, generateKey))
  assert.equal(keys.size, 1_000)
  for (const key of keys) assert.match(key, /^svc_live_[0-9a-f]{64}$/)
})

test('what is stored of a key is its SHA-256 and 16 characters', () => {
  assert.equal(
    hashApiKey('abc').toString('hex'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
  assert.equal(prefixOf('svc_live_0123456789abcdef'), 'svc_live_0123456')
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

test('a complaint about a name says what was given and what is wanted', () => {
  assert.deepEqual(checkKeyName(''), {
    complaint: `a key's name must have 1 to 64 characters, not 0: ""`,
  })
  assert.deepEqual(checkKeyName('a\nb'), {
    complaint: `a key's name must have no control characters: "a\\nb"`,
  })
  assert.deepEqual(checkKeyName('\ud800'), {
    complaint: `a key's name must be well-formed Unicode: "\\ud800"`,
  })
})

test('an e-mail address is one mailbox, in lower case', () => {
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
  assert.deepEqual(checkEmail('ada'), {
    complaint: 'an e-mail address looks like name@example.com: "ada" does not',
  })
})

test('a new user has an id of their own, and is of the present', () => {
  const before = presentInstant()
  const [ada, bob] = [createUser('ada@example.com'), createUser('bob@example.com')]
  assert.equal(ada.email, 'ada@example.com')
  assert.match(ada.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.notEqual(ada.id, bob.id)
  assert.ok(before <= ada.created_at && ada.created_at <= presentInstant())
  assert.ok(Math.abs(before - Date.now() * 1000) < 60_000_000)
})

test('uses are counted in slots of ten minutes', () => {
  assert.equal(slotOf(0), 0)
  assert.equal(slotOf(599_999_999), 0)
  assert.equal(slotOf(600_000_000), 1)
})

test('an instant is read to the microsecond, with its offset, and written in UTC', () => {
  assert.equal(parseInstant('1970-01-01T00:00:01Z'), 1_000_000)
  assert.equal(parseInstant('2026-01-31T12:00:00.123456+02:00'), 1_769_853_600_123_456)
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

test('rows are rendered with the eight fields and nothing of what else they carry', () => {
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
})
