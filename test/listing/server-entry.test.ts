import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkEntries,
  complaintsAboutFields,
  ENTRY_DEFAULTS,
  suggestSlug,
} from '../../src/listing/server-entry.ts'

const NAMED = { name: 'Survival' }

test('an entry needs a name and an address, and may say more', () => {
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
  assert.deepEqual(checkEntries([full, { name: 'B', address: 'b', slug: null, version: null }]), {
    entries: [
      { ...full, updated_at: 1_769_860_800_000_000 },
      { name: 'B', address: 'b', slug: null, version: null },
    ],
  })
  assert.deepEqual(checkEntries([]), { entries: [] })
})

test('an address is a domain or an IP address with an optional port', () => {
  const good = [
    'example.com',
    'a',
    'mc.exämple.de:1',
    '1.2.3.4:65535',
    '[::1]',
    '[2001:db8::1]:19132',
    'a_b.example',
    'x.y.',
  ]
  for (const address of good) assert.ok('entries' in checkEntries([{ ...NAMED, address }]), address)
  const bad = [
    '',
    ' a',
    'a b',
    'a:',
    'a:0',
    'a:65536',
    'a:1x',
    'a: 1',
    'a:1 ',
    '[::1]x',
    'x[::1]',
    '[]',
    '[fe80::1%eth0]',
    '[::\n1]',
    '[@[::1]',
    'a.b\n',
    '::1',
    '[::1',
    '[zz]',
    'http://a',
    'a/b',
    '-a.com',
    'a..b',
    `${'a'.repeat(64)}.com`,
  ]
  for (const address of bad)
    assert.ok('complaints' in checkEntries([{ ...NAMED, address }]), address)
})

test('a complaint names the entry, the field, the value and what is wanted', () => {
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

test('a slug has letters and digits of any script, and . _ ~ -', () => {
  for (const slug of ['a', '7', 'größe_2.0~x-y', '서버', '٣'])
    assert.ok('entries' in checkEntries([{ ...NAMED, address: 'a', slug }]), slug)
  for (const slug of ['', ' a', 'a ', 'a/b', '!', 'x'.repeat(201)])
    assert.ok('complaints' in checkEntries([{ ...NAMED, address: 'a', slug }]), slug)
})

test('each text has its greatest length', () => {
  const lengths = { name: 200, slug: 200, edition: 64, status: 64, version: 64, listing_kind: 64 }
  for (const [field, length] of Object.entries(lengths)) {
    const entry = (text: string) => ({ ...NAMED, address: 'a', [field]: text })
    assert.ok('entries' in checkEntries([entry('x'.repeat(length))]), field)
    assert.ok('complaints' in checkEntries([entry('x'.repeat(length + 1))]), field)
  }
})

test('what a new server gets where its entry is silent', () => {
  assert.deepEqual(ENTRY_DEFAULTS, { edition: 'java', status: 'published' })
})

test('the complaints about one server stand by its fields', () => {
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

test('ten complaints are no more than can be spelled out', () => {
  const checked = checkEntries(Array.from({ length: 10 }, () => ({ name: 'a' })))
  assert.ok('complaints' in checked)
  assert.equal(checked.complaints.length, 10)
  assert.equal(checked.complaints.at(-1), 'entry 9: "address" is missing')
})

test('ten complaints are spelled out and the rest counted, and no entry is returned beside them', () => {
  const checked = checkEntries([
    { name: 'a', address: 'a' },
    ...Array.from({ length: 50 }, () => ({})),
  ])
  assert.ok('complaints' in checked)
  assert.equal(checked.complaints.length, 11)
  assert.equal(checked.complaints.at(-1), 'and 90 more')
  assert.deepEqual(checkEntries({ name: 'a' }), {
    complaints: ['an import is a JSON array of servers, not {"name":"a"}'],
  })
})

function complaintOf(entry: unknown): string {
  const checked = checkEntries([{ name: 'a', address: 'a' }, entry])
  assert.ok('complaints' in checked)
  return checked.complaints.join('\n')
}
