import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRememberedListings, type Listing } from '../../src/api/remembered-listings.ts'
import { listingAnswer } from '../../src/api/responses.ts'

const listing = (revision: string, length = 1_000): Listing => ({
  revision,
  answer: listingAnswer('x'.repeat(length)),
})

test('the keys of one owner share one listing, and see its newest revision', () => {
  const listings = createRememberedListings(1_000_000)
  listings.remember('key 1', 'ada', listing('1'))
  const before = listings.size()
  listings.remember('key 2', 'ada', listing('2'))
  assert.equal(listings.recall('key 1')?.revision, '2')
  assert.equal(listings.recall('key 2')?.revision, '2')
  assert.equal(listings.recall('key 3'), null)
  assert.ok(listings.size() - before < 1_000)
})

test('a key that moved to another owner leads there', () => {
  const listings = createRememberedListings(1_000_000)
  listings.remember('key', 'ada', listing('1'))
  listings.remember('key', 'bob', listing('2'))
  assert.equal(listings.recall('key')?.revision, '2')
})

test('what is held stays within the bound, whatever is remembered', () => {
  const bound = 100_000
  const listings = createRememberedListings(bound)
  for (let round = 0; round < 10_000; round += 1) {
    listings.remember(
      `key ${round % 700}`,
      `user ${round % 350}`,
      listing(String(round), (round * 37) % 5_000),
    )
    assert.ok(listings.size() <= bound)
  }
  listings.remember('large', 'user', listing('large', bound + 1))
  assert.equal(listings.recall('large'), null)
  assert.ok(listings.size() <= bound)
})

test('forgetting an owner forgets the keys that lead there, and nobody else', () => {
  const listings = createRememberedListings(5_000, () => 0)
  listings.remember('key 1', 'ada', listing('1'))
  listings.remember('key 2', 'ada', listing('1'))
  listings.remember('key 3', 'bob', listing('2'))
  listings.remember('key 4', 'eve', listing('3'))
  const held = ['key 1', 'key 2', 'key 3', 'key 4'].map(
    (key) => listings.recall(key)?.revision ?? null,
  )
  assert.deepEqual(held, [null, null, '2', '3'])
})
