import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BLOCK_BYTES, createListingCache, ENTRY_BYTES } from '../../src/api/listing-cache.ts'
import type { Listing } from '../../src/model/claim.ts'

const listing = (revision: string, length = 1_000): Listing => ({
  revision,
  body: Buffer.alloc(length, revision),
})

/** A body that fills a block. */
const full = (revision: string) => listing(revision, BLOCK_BYTES)
/** The size of a cache with this many full blocks of one body each. */
const sizeOf = (blocks: number) => blocks * (BLOCK_BYTES + ENTRY_BYTES)

test('get returns the listing that was set last for this owner', () => {
  const listings = createListingCache(1_000_000)
  assert.equal(listings.get('ada'), null)
  listings.set('ada', listing('1'))
  listings.set('bob', listing('2', 500))
  listings.set('ada', listing('3', 700))
  assert.equal(listings.get('ada')?.revision, '3')
  assert.deepEqual(listings.get('ada')?.body, Buffer.alloc(700, '3'))
  assert.deepEqual(listings.get('bob')?.body, Buffer.alloc(500, '2'))
  assert.equal(listings.get('eve'), null)
})

test('the cache stays within the bound, whatever is set, and holds what fits', () => {
  const bound = 10 * BLOCK_BYTES
  const listings = createListingCache(bound)
  for (let round = 0; round < 20_000; round += 1) {
    const [user, body] = [`user ${round % 900}`, Buffer.alloc((round * 37) % 5_000, `${round}`)]
    listings.set(user, { revision: `${round}`, body })
    assert.ok(listings.size() <= bound)
    assert.deepEqual(listings.get(user)?.body, body)
  }
  listings.set('large', listing('large', bound + 1))
  assert.equal(listings.get('large'), null)
  assert.ok(listings.size() <= bound)
})

test('a body larger than a block has a block of its own', () => {
  const listings = createListingCache(5 * BLOCK_BYTES)
  for (const [user, length] of [
    ['ada', 10],
    ['bob', 2 * BLOCK_BYTES],
    ['eve', 10],
  ] as const)
    listings.set(user, listing(user, length))
  assert.equal(listings.get('ada')?.body.length, 10)
  assert.deepEqual(listings.get('bob')?.body, Buffer.alloc(2 * BLOCK_BYTES, 'bob'))
  assert.equal(listings.get('eve')?.body.length, 10)
})

test('a random block is evicted with all its owners, and no other', () => {
  const users = ['ada', 'bob', 'eve', 'joe']
  for (const [drawn, forgotten] of [
    [0, 'ada'],
    [0.4, 'bob'],
    [0.999, 'eve'],
  ] as const) {
    const listings = createListingCache(sizeOf(3), () => drawn)
    for (const user of users) listings.set(user, full(user))
    assert.deepEqual(
      users.filter((user) => listings.get(user) === null),
      [forgotten],
    )
  }
  const listings = createListingCache(2 * BLOCK_BYTES, () => 0)
  for (const user of ['ada', 'bob']) listings.set(user, listing(user))
  listings.set('eve', full('eve'))
  assert.deepEqual([listings.get('ada'), listings.get('bob')], [null, null])
  assert.equal(listings.get('eve')?.revision, 'eve')
})

test('an owner whose listing moved to another block stays when the old block is evicted', () => {
  const listings = createListingCache(sizeOf(2), () => 0)
  listings.set('ada', full('1'))
  listings.set('ada', full('2'))
  listings.set('bob', full('3'))
  assert.equal(listings.get('ada')?.revision, '2')
  assert.equal(listings.get('bob')?.revision, '3')
})

test('a listing that was read anew and is the same takes no more memory', () => {
  const listings = createListingCache(sizeOf(2))
  listings.set('ada', listing('1'))
  listings.set('bob', full('3'))
  const [held, size] = [listings.get('ada')!, listings.size()]
  for (const revision of ['1', '2']) listings.set('ada', { revision, body: Buffer.from(held.body) })
  assert.equal(listings.size(), size)
  assert.deepEqual([held.revision, listings.get('ada')?.revision], ['1', '2'])
  assert.deepEqual(listings.get('ada')?.body, held.body)
  assert.equal(listings.get('ada')?.body.buffer, held.body.buffer)

  listings.set('ada', listing('3'))
  assert.deepEqual(listings.get('ada')?.body, listing('3').body)
})

test('a body that is still used keeps its bytes when its block is evicted', () => {
  const listings = createListingCache(sizeOf(1))
  listings.set('ada', full('1'))
  const { body } = listings.get('ada')!
  for (const revision of ['2', '3', '4']) listings.set('bob', full(revision))
  assert.equal(listings.get('ada'), null)
  assert.deepEqual(body, full('1').body)
})

test('listings that exactly fill the cache stay in it', () => {
  const listings = createListingCache(sizeOf(2))
  listings.set('ada', full('1'))
  listings.set('bob', full('2'))
  assert.equal(listings.size(), sizeOf(2))
  assert.ok(listings.get('ada') !== null && listings.get('bob') !== null)
})
