import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createListingCache } from '../../src/api/listing-cache.ts'
import type { Listing } from '../../src/listing/claim.ts'

const listing = (revision: string, length = 1_000): Listing => ({
  revision,
  body: Buffer.alloc(length),
})

test('get returns the listing that was set last for this owner', () => {
  const listings = createListingCache(1_000_000)
  assert.equal(listings.get('ada'), null)
  listings.set('ada', listing('1'))
  const size = listings.size()
  listings.set('ada', listing('2'))
  assert.equal(listings.get('ada')?.revision, '2')
  assert.equal(listings.size(), size)
  assert.equal(listings.get('bob'), null)
})

test('the cache stays within the bound, whatever is set', () => {
  const bound = 100_000
  const listings = createListingCache(bound)
  for (let round = 0; round < 10_000; round += 1) {
    listings.set(`user ${round % 350}`, listing(String(round), (round * 37) % 5_000))
    assert.ok(listings.size() <= bound)
  }
  listings.set('large', listing('large', bound + 1))
  assert.equal(listings.get('large'), null)
  assert.ok(listings.size() <= bound)
})

test('one random entry is evicted, and no other', () => {
  const listings = createListingCache(6_000, () => 0)
  for (const user of ['ada', 'bob', 'eve', 'joe']) listings.set(user, listing(user))
  const held = ['ada', 'bob', 'eve', 'joe'].map((user) => listings.get(user)?.revision ?? null)
  assert.deepEqual(held, [null, 'bob', 'eve', 'joe'])
})

test('every entry can be the one that is evicted', () => {
  for (const [drawn, forgotten] of [
    [0.25, 'bob'],
    [0.5, 'eve'],
    [0.999, 'joe'],
  ] as const) {
    const listings = createListingCache(6_000, () => drawn)
    const users = ['ada', 'bob', 'eve', 'joe']
    for (const user of users) listings.set(user, listing(user))
    assert.deepEqual(
      users.filter((user) => listings.get(user) === null),
      [forgotten],
    )
  }
})

test('listings that exactly fill the cache stay in it', () => {
  const one = createListingCache(1_000_000)
  one.set('ada', listing('1'))
  const listings = createListingCache(2 * one.size())
  listings.set('ada', listing('1'))
  listings.set('bob', listing('1'))
  assert.equal(listings.size(), 2 * one.size())
  assert.ok(listings.get('ada') !== null && listings.get('bob') !== null)
})
