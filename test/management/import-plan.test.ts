import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerEntry } from '../../src/listing/servers/server-entry.ts'
import {
  changedFields,
  type ImportedRow,
  planImport,
} from '../../src/management/servers/import-plan.ts'

function stored(id: string, changed: Partial<ImportedRow> = {}): ImportedRow {
  return {
    id,
    name: id,
    slug: null,
    host_label: `${id}.example.com`,
    edition: 'java',
    status: 'published',
    version: null,
    listing_kind: null,
    updated_at: 1,
    ...changed,
  }
}

/** The ids of new servers are `new 1`, `new 2` and so on. */
function plan(rows: readonly ImportedRow[], ...entries: ServerEntry[]) {
  let made = 0
  return planImport(rows, entries, 2, () => {
    made += 1
    return `new ${made}`
  })
}

test('an entry finds the server that an earlier entry has moved, by its new slug and its new address', () => {
  const { added, changed } = plan(
    [stored('a', { slug: 'a' })],
    { name: 'moved', address: 'b.example.com', slug: 'a' },
    { name: 'named', address: 'b.example.com', version: '1.21' },
    { name: 'old address', address: 'a.example.com' },
  )
  assert.deepEqual(
    added.map(({ id, name }) => [id, name]),
    [['new 1', 'old address']],
  )
  assert.deepEqual(
    changed.map(({ row: { id, name, slug, host_label, version } }) => [
      id,
      name,
      slug,
      host_label,
      version,
    ]),
    [['a', 'named', 'a', 'b.example.com', '1.21']],
  )
})

test('of two servers with one address the first one takes every entry', () => {
  const twins = [stored('a', { slug: 'a' }), stored('b')].map((row) => ({
    ...row,
    host_label: 'twins.example.com',
  }))
  const { added, changed } = plan(
    twins,
    { name: 'by slug', address: 'twins.example.com', slug: 'a' },
    { name: 'once', address: 'twins.example.com' },
    { name: 'twice', address: 'twins.example.com' },
  )
  assert.deepEqual(added, [])
  assert.deepEqual(
    changed.map(({ row: { id, name } }) => [id, name]),
    [['a', 'twice']],
  )
})

test('a slug that an earlier entry gives up makes a new server', () => {
  const { added, changed } = plan(
    [stored('a', { slug: 'a' })],
    { name: 'a', address: 'a.example.com', slug: null },
    { name: 'next', address: 'next.example.com', slug: 'a' },
  )
  assert.deepEqual(
    changed.map(({ row }) => row),
    [stored('a', { updated_at: 2 })],
  )
  assert.deepEqual(
    added.map(({ slug, name }) => [slug, name]),
    [['a', 'next']],
  )
})

test('of two servers with one address an entry takes the second once the first has moved', () => {
  const rows = [
    stored('a', { host_label: 'x.example.com', slug: 'a' }),
    stored('b', { host_label: 'x.example.com' }),
  ]
  const { added, changed } = plan(
    rows,
    { name: 'away', address: 'y.example.com', slug: 'a' },
    { name: 'second', address: 'x.example.com' },
  )
  assert.deepEqual(added, [])
  assert.deepEqual(
    changed.map(({ row: { id, name } }) => [id, name]),
    [
      ['a', 'away'],
      ['b', 'second'],
    ],
  )
})

test('the plan has unchanged servers apart and lists the fields that an entry names', () => {
  const rows = [stored('a'), stored('b'), stored('c'), stored('d')]
  const { changed, unchanged } = plan(
    rows,
    { name: 'a', address: 'a.example.com', updated_at: 1, status: 'published' },
    { name: 'b', address: 'b.example.com', updated_at: 1, slug: null, status: 'draft' },
    { name: 'c', address: 'c.example.com' },
  )
  assert.deepEqual(
    changed.map(({ row: { id }, named }) => [id, [...named]]),
    [['b', ['slug', 'status', 'updated_at']]],
  )
  assert.deepEqual(
    unchanged.map(({ row: { id, updated_at } }) => [id, updated_at]),
    [
      ['a', 1],
      ['c', 2],
    ],
  )
})

test('an instant is a change only if an entry names it', () => {
  const { changed } = plan(
    [stored('a'), stored('b')],
    { name: 'a', address: 'a.example.com', updated_at: 3 },
    { name: 'b', address: 'b.example.com', version: '1.21' },
  )
  assert.deepEqual(changed.map(changedFields), [['updated_at'], ['version']])
})
