import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planImport } from '../../../src/servers/records/import/plan.ts'
import { NOW, plan, short, stored } from './planned.ts'

const X = { host_label: 'x.example.com' }
const address = 'x.example.com'

test('a Java and a Bedrock server of one host are two servers, in any order and again', () => {
  const java = { name: 'Lagoon Java', address, edition: 'java' }
  const bedrock = { name: 'Lagoon Bedrock', address, edition: 'bedrock' }
  assert.deepEqual(short(plan([], java, bedrock)), { added: ['new 1', 'new 2'] })
  const rows = [stored('Lagoon Java', X), stored('Lagoon Bedrock', { ...X, edition: 'bedrock' })]
  assert.deepEqual(short(plan(rows, bedrock, java)), {
    unchanged: ['Lagoon Java', 'Lagoon Bedrock'],
  })
  const lagoon = stored('Lagoon', { ...X, slug: 'lagoon' })
  assert.deepEqual(short(plan([lagoon], { ...bedrock, slug: null })), { added: ['new 1'] })
})

test('an entry with a known slug means that server, wherever it moves', () => {
  const rows = [stored('a', { slug: 'a' })]
  const moved = plan(
    rows,
    { name: 'a', address, slug: 'a', edition: 'bedrock' },
    { name: 'old address', address: 'a.example.com' },
    { name: 'a', address, edition: 'bedrock' },
  )
  assert.deepEqual(short(moved), {
    added: ['new 2'],
    changed: [['a', 'host_label', 'edition']],
    duplicates: 1,
  })
})

test('an entry with a new slug gives it to the server without one that is the same otherwise', () => {
  const rows = [stored('a', X), stored('b', { ...X, slug: 'b' })]
  assert.deepEqual(short(plan(rows, { name: 'a', address, slug: 'a' })), {
    changed: [['a', 'slug']],
  })
  for (const name of ['b', 'c'])
    assert.deepEqual(short(plan(rows, { name, address, slug: 'c' })), { added: ['new 1'] })
  const both = plan(rows, { name: 'a', address, slug: 'a' }, { name: 'a', address })
  assert.deepEqual(short(both), { added: ['new 1'], unchanged: ['a'] })
})

test('an entry without a slug keeps the slug, and is wrong if it would rename', () => {
  const rows = [stored('a', { ...X, slug: 'a' })]
  assert.deepEqual(short(plan(rows, { name: 'a', address, slug: null, version: '2' })), {
    changed: [['a', 'version']],
  })
  assert.equal(
    plan(rows, { name: 'a', address, slug: null, version: '2' }).changed[0]!.row.slug,
    'a',
  )
  assert.deepEqual(short(plan(rows, { name: 'b', address })).wrong, [
    'row 2: "name" is "b", but the server with this address and edition is "a". Give the slug "a" ' +
      'to rename that server, or another slug for a second one',
  ])
  assert.deepEqual(short(plan([stored('a', X)], { name: 'b', address })).wrong, [
    'row 2: "name" is "b", but the server with this address and edition is "a". Rename that ' +
      'server in the dashboard, or give this one a slug of its own',
  ])
})

test('of several servers, one with all values of an entry counts first, and each is meant once', () => {
  const rows = ['1', '2', '3'].map((version) =>
    stored(version, { ...X, name: 'twin', version, updated_at: Number(version) }),
  )
  const entry = { name: 'twin', address }
  const all = plan(
    rows,
    { ...entry, version: '3', updated_at: 3 },
    { ...entry, version: 'new', updated_at: 2 },
    { ...entry, version: '1', updated_at: 1 },
  )
  assert.deepEqual(short(all), { changed: [['2', 'version']], unchanged: ['1', '3'] })
  assert.equal(all.changed[0]!.row.updated_at, NOW)
  // An entry with fewer values leaves the exact server to another entry.
  assert.deepEqual(short(plan(rows, entry, { ...entry, version: '1' })), { unchanged: ['1', '2'] })
  const same = [stored('a', { ...X, name: 'twin' }), stored('b', { ...X, name: 'twin' })]
  assert.deepEqual(short(plan(same, entry, entry, entry)), {
    unchanged: ['a', 'b'],
    duplicates: 1,
  })
})

test('an entry for whose server another one has other values is wrong, and names both places', () => {
  const better = { name: 'Better', address: 'a.example.com', slug: 'better' }
  assert.deepEqual(short(plan([], better, { ...better, address, updated_at: 5 })).wrong, [
    'row 3: has the slug "better" of row 2, but has "address" "x.example.com" instead of ' +
      '"a.example.com". If they are two servers, give each a slug of its own. If they are one, ' +
      'delete a row',
  ])
  const rows = [stored('one', X)]
  const [one, two] = [
    { name: 'one', address },
    { name: 'two', address, version: '1' },
  ]
  // The exact entry counts, although it comes later.
  assert.deepEqual(short(plan(rows, two, one)).wrong, [
    'row 3: means the same server as row 2, but has "name" "one" instead of "two", ' +
      '"version" null instead of "1". If they are two servers, give each a slug or an edition of ' +
      'its own. If they are one, delete a row',
  ])
  assert.equal(plan([], one, two).wrong.length, 1)
})

test('entries that differ only in their instants are duplicates, and the newest instant counts', () => {
  const entry = { name: 'a', address: 'a.example.com' }
  const dated = [3, 5, 4].map((updated_at) => ({ ...entry, updated_at }))
  const fresh = plan([], ...dated)
  assert.deepEqual(short(fresh), { added: ['new 1'], duplicates: 2 })
  assert.equal(fresh.added[0]!.updated_at, 5)
  assert.deepEqual(short(plan([stored('a', { updated_at: 5 })], ...dated)), {
    unchanged: ['a'],
    duplicates: 2,
  })
})

test('an entry without an edition means the server at its address, the default edition first', () => {
  const bedrock = stored('a', { ...X, edition: 'bedrock' })
  const entry = { name: 'a', address }
  assert.deepEqual(short(plan([bedrock], entry)), { unchanged: ['a'] })
  const java = stored('b', { ...X, name: 'a' })
  assert.deepEqual(short(plan([bedrock, java], entry)), { unchanged: ['b'] })
  const other = stored('c', { ...X, version: '2' })
  const two = { name: 'c', address, version: '2' }
  assert.deepEqual(short(plan([bedrock, other], two, entry, entry)), {
    unchanged: ['c', 'a'],
    duplicates: 1,
  })
  const named = { ...entry, name: 'b', edition: 'bedrock' }
  assert.deepEqual(short(plan([], named, entry, entry)), {
    added: ['new 1', 'new 2'],
    duplicates: 1,
  })
  assert.match(short(plan([bedrock], named, { ...entry, name: 'c' })).wrong!.join(), /"c"/)
})

test('an entry with a slug and no edition keeps the edition of the server that it means', () => {
  const bedrock = stored('a', { ...X, edition: 'bedrock' })
  const entry = { name: 'a', address, slug: 'a' }
  assert.deepEqual(short(plan([bedrock], entry)), { changed: [['a', 'slug']] })
  const known = stored('a', { ...X, edition: 'bedrock', slug: 'a' })
  const second = stored('b', { ...X, edition: 'bedrock' })
  assert.deepEqual(short(plan([known, second], entry, { name: 'b', address })), {
    unchanged: ['b', 'a'],
  })
  const java = stored('c', { ...X, name: 'a', version: '1' })
  assert.deepEqual(short(plan([bedrock, java], { ...entry, version: '2' })), {
    changed: [['c', 'slug', 'version']],
  })
  const exact = stored('d', { ...X, name: 'a', edition: 'bedrock', version: '2' })
  assert.deepEqual(short(plan([exact, java], { ...entry, version: '2' })), {
    changed: [['d', 'slug']],
  })
})

test('a server that an entry of another part means by its slug is not meant by its address', () => {
  const rows = [stored('a', { ...X, slug: 'a' })]
  const part = planImport(rows, [{ name: 'a', address }], [0], {
    now: NOW,
    idOf: () => 'new',
    hasSlug: (slug) => slug === 'a',
    placeOf: String,
  })
  assert.deepEqual(short(part), { added: ['new'] })
})

test('ten thousand entries at one address each mean a server of their own', () => {
  const rows = Array.from({ length: 10_000 }, (_, n) =>
    stored(`${n}`, { ...X, name: 'twin', version: `${n}` }),
  )
  const entries = rows.map(({ version }) => ({ name: 'twin', address, version: `${version} ` }))
  const { changed, wrong } = plan(rows, ...entries)
  assert.deepEqual([changed.length, wrong.length], [10_000, 0])
})
