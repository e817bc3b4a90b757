import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INITIAL } from '../../src/servers/fields.ts'
import {
  isChanged,
  type PlacedServer,
  type PlanOptions,
  planServers,
} from '../../src/servers/plan.ts'
import type { ServerEntry } from '../../src/servers/server-entry.ts'

const NOW = 9
const address = 'x.example.com'
const X = { address }

function stored(id: string, changed: Partial<PlacedServer> = {}): PlacedServer {
  return {
    ...INITIAL,
    id,
    created_by: 'ada',
    organization: null,
    name: id,
    address: `${id}.example.com`,
    updated_at: 1,
    ...changed,
  }
}

/** The first new server has the id `new 1`. */
function newIds(): () => string {
  let ids = 0
  return () => {
    ids += 1
    return `new ${ids}`
  }
}

function plan(
  rows: readonly PlacedServer[],
  entries: readonly ServerEntry[],
  options: Partial<PlanOptions> = {},
) {
  return planServers(
    rows,
    entries.map((entry) => ({ entry })),
    {
      userId: 'ada',
      now: NOW,
      declares: false,
      prunes: false,
      makeId: newIds(),
      nameOf: (position) => `row ${position + 2}`,
      ...options,
    },
  )
}

/** For each entry, the id of its server and the columns that change; or the mistake. */
function outcomes(
  rows: readonly PlacedServer[],
  entries: readonly ServerEntry[],
  options: Partial<PlanOptions> = {},
): unknown[] {
  const { planned, mistakes } = plan(rows, entries, options)
  return entries.map((_, at) => {
    const wrong = mistakes.filter(({ position }) => position === at)
    if (wrong.length > 0) return wrong.map(({ field, message }) => `"${field}" ${message}`).join()
    const { before, after } = planned.find(({ position }) => position === at)!
    if (before === null) return after.id
    if (!isChanged(before, after)) return after.id
    const columns = Object.keys(after) as (keyof PlacedServer)[]
    return [after.id, ...columns.filter((field) => after[field] !== before[field])].filter(
      (column) => column !== 'updated_at',
    )
  })
}

test('a Java and a Bedrock server of one host are two servers, in any order and again', () => {
  const java = { name: 'Java', address, edition: 'java' }
  const bedrock = { name: 'Bedrock', address, edition: 'bedrock' }
  assert.deepEqual(outcomes([], [java, bedrock]), ['new 1', 'new 2'])
  const rows = [stored('Java', X), stored('Bedrock', { ...X, edition: 'bedrock' })]
  assert.deepEqual(outcomes(rows, [bedrock, java]), ['Bedrock', 'Java'])
})

test('an entry means the server with its id, else with its slug, else with its address', () => {
  const rows = [stored('a', { slug: 'a' }), stored('b', { slug: 'b' }), stored('c', X)]
  const entry = { name: 'n', address: 'n.example.com' }
  assert.deepEqual(
    outcomes(rows, [
      { ...entry, id: 'a', slug: 'new' },
      { ...entry, slug: 'b', edition: 'bedrock' },
      { ...entry, address },
      { ...entry, address: 'other.example.com', id: 'unknown' },
    ]),
    [['a', 'slug', 'name', 'address'], ['b', 'edition', 'name', 'address'], ['c', 'name'], 'new 1'],
  )
})

test('an unknown id of an import means nothing, and a declared one makes a server with it', () => {
  const rows = [stored('a', { slug: 'a' })]
  const entry = { name: 'a', address: 'a.example.com', slug: 'a', id: 'other' }
  assert.deepEqual(outcomes(rows, [entry]), ['a'])
  assert.deepEqual(outcomes(rows, [{ ...entry, slug: 'b' }], { declares: true }), ['other'])
  assert.deepEqual(outcomes(rows, [entry], { declares: true }), [
    '"slug" is the slug of another server of this user: "a"',
  ])
  assert.deepEqual(outcomes(rows, [entry], { declares: true, prunes: true }), ['other'])
})

test('a new slug is for the server without one at its address, and else for a new server', () => {
  const entry = { name: 'a', address, slug: 'new' }
  assert.deepEqual(outcomes([stored('a', X)], [entry]), [['a', 'slug']])
  assert.deepEqual(outcomes([stored('a', { ...X, slug: 'a' })], [entry]), ['new 1'])
  assert.deepEqual(outcomes([stored('a', { ...X, edition: 'bedrock' })], [entry]), [['a', 'slug']])
  assert.deepEqual(
    outcomes([stored('a', { ...X, edition: 'bedrock' })], [{ ...entry, edition: 'java' }]),
    ['new 1'],
  )
})

test('without an edition, an entry means the server of the default one, or else of any', () => {
  const [java, bedrock] = [stored('j', X), stored('b', { ...X, edition: 'bedrock' })]
  const other = stored('p', { ...X, edition: 'pocket' })
  const entry = { name: 'n', address }
  assert.deepEqual(outcomes([bedrock, java], [entry]), [['j', 'name']])
  assert.deepEqual(outcomes([bedrock], [entry]), [['b', 'name']])
  assert.deepEqual(outcomes([bedrock, other], [entry]), [
    '"address" is the address of 2 servers of this user; give the "id" of one',
  ])
  assert.deepEqual(outcomes([], [{ ...entry, edition: 'bedrock' }, entry]), ['new 1', 'new 2'])
})

test('a server without a slug comes before others of its address, and several are a mistake', () => {
  const [slugged, plain] = [stored('s', { ...X, slug: 's' }), stored('p', X)]
  const entry = { name: 'p', address }
  assert.deepEqual(outcomes([slugged, plain], [entry]), ['p'])
  assert.deepEqual(outcomes([plain, stored('q', X)], [entry]), [
    '"address" is the address of 2 servers of this user; give the "id" of one',
  ])
  assert.deepEqual(outcomes([plain, stored('q', X)], [{ ...entry, id: 'p' }]), ['p'])
})

test('two entries for one server are a mistake that names both places', () => {
  const same = { name: 'a', address, slug: 'a' }
  const rows = [stored('a', { ...X, slug: 'a' })]
  const slug = '"slug" means the same server as row 2; remove one'
  assert.deepEqual(outcomes(rows, [same, same]), ['a', slug])
  assert.deepEqual(outcomes(rows, [same, { name: 'a', address, id: 'a' }]), [
    'a',
    '"id" means the same server as row 2; remove one',
  ])
  assert.deepEqual(outcomes([], [same, { ...same, address: 'y.example.com' }]), [
    'new 1',
    '"slug" is the slug of another server of this user: row 2',
  ])
  const plain = { name: 'a', address }
  const twice = '"address" means the same server as row 2; remove one, or give each a "slug"'
  for (const some of [rows, [], [stored('a', X)]])
    assert.equal(outcomes(some, [plain, plain])[1], twice)
  // Also if the other one means it by its slug, and moves it to this address.
  assert.equal(outcomes([stored('a', { slug: 'a' })], [same, plain])[1], twice)
})

test('servers can exchange their slugs, and none gets that of a server that stays', () => {
  const rows = [stored('a', { slug: 'a' }), stored('b', { slug: 'b' })]
  const [a, b] = [
    { name: 'a', address: 'a.example.com', id: 'a' },
    { name: 'b', address: 'b.example.com', id: 'b' },
  ]
  const swapped = outcomes(rows, [
    { ...a, slug: 'b' },
    { ...b, slug: 'a' },
  ])
  assert.deepEqual(swapped, [
    ['a', 'slug'],
    ['b', 'slug'],
  ])
  assert.deepEqual(outcomes(rows, [{ ...a, slug: 'b' }]), [
    '"slug" is the slug of another server of this user: "b"',
  ])
  // Rows of another program may share a slug, and stay as they are.
  const twins = rows.map((row) => ({ ...row, slug: 'twin' }))
  assert.deepEqual(outcomes(twins, [a, b]), ['a', 'b'])
  assert.deepEqual(outcomes(twins, [{ ...a, id: 'none', slug: 'twin' }]), [
    '"slug" is the slug of 2 servers of this user; give the "id" of one',
  ])
})

test('a server keeps what an entry leaves out, and an import empties no slug', () => {
  const row = stored('a', { ...X, slug: 'a', version: '1', edition: 'bedrock', status: 'draft' })
  const entry = { name: 'a', address, edition: 'bedrock' }
  assert.deepEqual(outcomes([row], [{ ...entry, slug: null }]), ['a'])
  assert.deepEqual(outcomes([row], [{ ...entry, slug: null }], { declares: true }), [['a', 'slug']])
  assert.deepEqual(outcomes([row], [{ ...entry, version: null }]), [['a', 'version']])
})

test('a newer instant counts, and any that is declared; else a changed server changes now', () => {
  const rows = [stored('a', { ...X, updated_at: 5 })]
  const at = (entry: Partial<ServerEntry>, declares = false) =>
    plan(rows, [{ name: 'a', address, ...entry }], { declares }).planned.map(
      ({ after, isDated }) => [after.updated_at, isDated],
    )[0]
  assert.deepEqual(at({}), [5, false])
  assert.deepEqual(at({ version: '2' }), [NOW, false])
  assert.deepEqual(at({ version: '2', updated_at: 4 }), [NOW, false])
  assert.deepEqual(at({ updated_at: 7 }), [7, true])
  assert.deepEqual(at({ updated_at: 4 }, true), [4, true])
  assert.deepEqual(at({ version: '2', updated_at: 5 }, true), [NOW, false])
})

test('a stored value that says the same stays as it is', () => {
  const rows = [stored('a', { ...X, edition: ' java', version: 'N/A', name: ' a ' })]
  const entry = { name: 'a', address, edition: 'java', version: null }
  assert.deepEqual(outcomes(rows, [entry]), ['a'])
})

test('a server of another user is no server of this one', () => {
  const foreign = stored('f', { ...X, slug: 'f', created_by: 'bob' })
  const entry = { name: 'f', address, slug: 'f' }
  assert.deepEqual(outcomes([foreign], [entry]), ['new 1'])
  assert.deepEqual(outcomes([foreign], [{ ...entry, id: 'f' }]), [
    '"id" is the id of another user\'s server',
  ])
})

test('the servers that no entry means are absent', () => {
  const rows = ['a', 'b', 'c'].map((id) => stored(id))
  const { absent } = plan(rows, [{ name: 'b', address: 'b.example.com' }])
  assert.deepEqual(
    absent.map(({ id }) => id),
    ['a', 'c'],
  )
})

test('ten thousand servers at one address are planned at once', () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => stored(`${n}`, { ...X, slug: `${n}` }))
  const entries = rows.flatMap(({ slug }) => [
    { name: 'known', address, slug },
    { name: 'new', address, slug: `new-${slug}` },
  ])
  const { planned, mistakes } = plan(rows, entries)
  assert.deepEqual([planned.length, mistakes.length], [20_000, 0])
})
