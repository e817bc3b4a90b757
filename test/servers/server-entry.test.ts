import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVER_DEFAULTS } from '../../src/model/server-row.ts'
import { inspectEntry, suggestSlug } from '../../src/servers/server-entry.ts'

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
  assert.deepEqual(inspectEntry(full), { entry: { ...full, updated_at: 1_769_860_800_000_000 } })
  const short = { name: 'B', address: 'b', slug: null, version: null }
  assert.deepEqual(inspectEntry(short), { entry: short })
  assert.deepEqual(inspectEntry({ ...short, notes: 'of another program' }), { entry: short })
})

test('spaces around a text and words for no value say nothing', () => {
  const said = { name: '\u00a0A\t', address: ' a\ufeff', edition: '\u3000java ' }
  const unsaid = {
    slug: ' ',
    status: 'NULL',
    updated_at: '',
    version: '\\N',
    listing_kind: ' N/A ',
  }
  assert.deepEqual(inspectEntry({ ...said, ...unsaid }), {
    entry: {
      name: 'A',
      address: 'a',
      edition: 'java',
      version: null,
      listing_kind: null,
    },
  })
  assert.equal(complaintOf({ name: 'a', address: 'NULL' }), '"address" is missing')
  assert.equal(complaintOf({ name: 'N/A', address: 'a' }), '"name" is missing')
})

test('an error names the entry, the field, the value and what is required', () => {
  assert.equal(complaintOf({ name: 'a' }), '"address" is missing')
  assert.equal(complaintOf('a'), 'must be an object, not "a"')
  assert.equal(complaintOf(null), 'must be an object, not null')
  assert.equal(
    complaintOf({ name: 'a', address: 'a:99999' }),
    '"address" must be a domain or an IP address, with an optional :port: "a:99999"',
  )
  assert.equal(complaintOf({ name: 5, address: 'a' }), '"name" must be a string: 5')
  assert.equal(complaintOf({ name: ' ', address: 'a' }), '"name" is missing')
  assert.equal(
    complaintOf({ name: 'a', address: 'a', updated_at: 'yesterday' }),
    '"updated_at" must be an ISO 8601 instant such as 2026-01-31T12:00:00Z: "yesterday"',
  )
  assert.equal(
    complaintOf({ name: 'a', address: 'a', edition: null }),
    '"edition" must be a string: null',
  )
  assert.equal(complaintOf({ name: 'a', address: 5 }), '"address" must be a string: 5')
  assert.equal(
    complaintOf({ name: 'a', address: 'a', updated_at: 5 }),
    '"updated_at" must be a string: 5',
  )
  assert.equal(
    complaintOf({ name: 'a', address: 'a', slug: 'a b' }),
    '"slug" must have only letters, digits and . _ ~ -: "a b"',
  )
})

const entry = (updated_at: string) => ({ ...NAMED, address: 'a', updated_at })

test("an import refuses an instant that a number can't hold exactly, and accepts the last one it can", () => {
  const first = '1684-07-28T00:12:25.259009Z'
  const last = '2255-06-05T23:47:34.740991Z'
  for (const [text, updated_at] of [
    [first, -9_007_199_254_740_991],
    [last, 9_007_199_254_740_991],
  ] as const)
    assert.deepEqual(inspectEntry(entry(text)), { entry: { ...NAMED, address: 'a', updated_at } })
  for (const text of [
    '1684-07-28T00:12:25.259008Z',
    '2255-06-05T23:47:34.740992Z',
    '0001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
  ])
    assert.equal(
      complaintOf(entry(text)),
      `"updated_at" must lie between ${first} and ${last}: "${text}"`,
    )
})

test('a slug has letters and digits of any script, and . _ ~ -', () => {
  for (const slug of ['a', '7', 'größe_2.0~x-y', '서버', '٣'])
    assert.ok(isValid([{ ...NAMED, address: 'a', slug }]), slug)
  for (const slug of ['a b', 'a/b', '!', 'a\u3164', '\uffa0', 'x'.repeat(201)])
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
  const inspected = inspectEntry({ name: '', address: 'a:0' })
  assert.ok('wrong' in inspected)
  assert.deepEqual(inspected.complaints, {
    name: 'is missing',
    address: 'must be a domain or an IP address, with an optional :port',
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

test('an entry gets all its errors at once', () => {
  assert.equal(complaintOf({}), '"name" is missing\n"address" is missing')
})

function isValid(list: unknown[]): boolean {
  return list.every((entry) => 'entry' in inspectEntry(entry))
}

function complaintOf(entry: unknown): string {
  const inspected = inspectEntry(entry)
  assert.ok('wrong' in inspected)
  return inspected.wrong.join('\n')
}
