import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVER_DEFAULTS } from '../../src/listing/servers/server.ts'
import {
  inspectEntries,
  complaintsAboutFields,
  suggestSlug,
} from '../../src/listing/servers/server-entry.ts'

const NAMED = { name: 'Survival' }

test('an entry needs a name and an address; other fields are optional', () => {
  const full = {
    name: 'Survival',
    address: 'play.example.com:25565',
    slug: 'survival',
    edition: 'bedrock',
    status: 'draft',
    version: '1.21',
    listing_kind: 'realm',
    updated_at: '2026-01-31T12:00:00Z',
  }
  assert.deepEqual(inspectEntries([full, { name: 'B', address: 'b', slug: null, version: null }]), {
    entries: [
      { ...full, updated_at: 1_769_860_800_000_000 },
      { name: 'B', address: 'b', slug: null, version: null },
    ],
    indexes: [0, 1],
    wrong: [],
  })
  assert.deepEqual(inspectEntries([]), { entries: [], indexes: [], wrong: [] })
})

test('an error names the entry, the field, the value and what is required', () => {
  assert.equal(complaintOf({ name: 'a' }), 'entry 1: "address" is missing')
  assert.equal(complaintOf('a'), 'entry 1: must be an object, not "a"')
  assert.equal(complaintOf(null), 'entry 1: must be an object, not null')
  assert.equal(
    complaintOf({ name: 'a', address: 'a:99999' }),
    'entry 1: "address" must be a domain or an IP address, with an optional :port: "a:99999"',
  )
  assert.equal(complaintOf({ name: 5, address: 'a' }), 'entry 1: "name" must be a string: 5')
  assert.equal(
    complaintOf({ name: '', address: 'a' }),
    'entry 1: "name" must have 1 to 200 characters, not 0: ""',
  )
  assert.equal(
    complaintOf({ name: 'a', address: 'a', updated_at: 'yesterday' }),
    'entry 1: "updated_at" must be an ISO 8601 instant such as 2026-01-31T12:00:00Z: "yesterday"',
  )
  assert.equal(
    complaintOf({ name: 'a', address: 'a', adress: 'b' }),
    'entry 1: "adress" is not a field of a server',
  )
  assert.equal(
    complaintOf({ name: 'a', address: 'a', edition: null }),
    'entry 1: "edition" must be a string: null',
  )
  assert.equal(complaintOf({ name: 'a', address: 5 }), 'entry 1: "address" must be a string: 5')
  assert.equal(
    complaintOf({ name: 'a', address: 'a', updated_at: 5 }),
    'entry 1: "updated_at" must be a string: 5',
  )
  assert.equal(
    complaintOf({ name: 'a', address: 'a', slug: 'a b' }),
    'entry 1: "slug" must have only letters, digits and . _ ~ -: "a b"',
  )
})

test("an import refuses an instant that a number can't hold exactly, and accepts the last one it can", () => {
  const first = '1684-07-28T00:12:25.259009Z'
  const last = '2255-06-05T23:47:34.740991Z'
  const entry = (updated_at: string) => ({ ...NAMED, address: 'a', updated_at })
  assert.deepEqual(inspectEntries([entry(first), entry(last)]), {
    entries: [
      { ...NAMED, address: 'a', updated_at: -9_007_199_254_740_991 },
      { ...NAMED, address: 'a', updated_at: 9_007_199_254_740_991 },
    ],
    indexes: [0, 1],
    wrong: [],
  })
  for (const text of [
    '1684-07-28T00:12:25.259008Z',
    '2255-06-05T23:47:34.740992Z',
    '0001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
  ])
    assert.equal(
      complaintOf(entry(text)),
      `entry 1: "updated_at" must lie between ${first} and ${last}: "${text}"`,
    )
})

test('a slug has letters and digits of any script, and . _ ~ -', () => {
  for (const slug of ['a', '7', 'größe_2.0~x-y', '서버', '٣'])
    assert.ok(isValid([{ ...NAMED, address: 'a', slug }]), slug)
  for (const slug of ['', ' a', 'a ', 'a/b', '!', 'a\u3164', '\uffa0', 'x'.repeat(201)])
    assert.ok(!isValid([{ ...NAMED, address: 'a', slug }]), slug)
})

test('each text field has a maximum length', () => {
  const lengths = { name: 200, slug: 200, edition: 64, status: 64, version: 64, listing_kind: 64 }
  for (const [field, length] of Object.entries(lengths)) {
    const entry = (text: string) => ({ ...NAMED, address: 'a', [field]: text })
    assert.ok(isValid([entry('x'.repeat(length))]), field)
    assert.ok(!isValid([entry('x'.repeat(length + 1))]), field)
  }
})

test('absent fields of a new server get their defaults', () => {
  assert.deepEqual(SERVER_DEFAULTS, { edition: 'java', status: 'published' })
})

test('the errors of one server are listed by field', () => {
  assert.deepEqual(complaintsAboutFields({ name: 'a', address: 'a' }), {})
  assert.deepEqual(complaintsAboutFields({ name: '', address: 'a:0', adress: 'b' }), {
    name: 'must have 1 to 200 characters, not 0',
    address: 'must be a domain or an IP address, with an optional :port',
    adress: 'is not a field of a server',
  })
})

test('a slug is made from the letters and digits of a name, in any script', () => {
  assert.equal(suggestSlug('Ada’s  Survival 2!'), 'ada-s-survival-2')
  assert.equal(suggestSlug('--Größe--'), 'große')
  assert.equal(suggestSlug('Élan é'), 'elan-e')
  assert.equal(suggestSlug('서버 ①'), '서버-1')
  assert.equal(suggestSlug('★ ★'), '')
  assert.equal(suggestSlug('x'.repeat(100)), 'x'.repeat(64))
  assert.equal(suggestSlug(`${'x'.repeat(63)} y`), 'x'.repeat(63))
})

test('every error and every valid entry has its index', () => {
  const { entries, indexes, wrong } = inspectEntries([
    {},
    { name: 'a', address: 'a' },
    { name: 'b' },
  ])
  assert.deepEqual([entries, indexes], [[{ name: 'a', address: 'a' }], [1]])
  assert.deepEqual(wrong, [
    { index: 0, message: '"name" is missing' },
    { index: 0, message: '"address" is missing' },
    { index: 2, message: '"address" is missing' },
  ])
})

function isValid(list: unknown[]): boolean {
  return inspectEntries(list).wrong.length === 0
}

/** The errors of an entry behind a valid one, each after the index 1. */
function complaintOf(entry: unknown): string {
  const { wrong } = inspectEntries([{ name: 'a', address: 'a' }, entry])
  assert.ok(wrong.length > 0)
  return wrong.map(({ index, message }) => `entry ${index}: ${message}`).join('\n')
}
