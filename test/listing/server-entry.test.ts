import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkEntries } from '../../src/listing/server-entry.ts'

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
