import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRememberedListings, type Listing } from '../../src/api/remembered-listings.ts'

const listing = (revision: string, length = 1_000): Listing => ({
  revision,
  body: Buffer.alloc(length),
})

test('a listing is recalled by its owner, in the state remembered last', () => {
  const listings = createRememberedListings(1_000_000)
  assert.equal(listings.recall('ada'), null)
  listings.remember('ada', listing('1'))
  const size = listings.size()
  listings.remember('ada', listing('2'))
  assert.equal(listings.recall('ada')?.revision, '2')
  assert.equal(listings.size(), size)
  assert.equal(listings.recall('bob'), null)
})

test('what is held stays within the bound, whatever is remembered', () => {
  const bound = 100_000
  const listings = createRememberedListings(bound)
  for (let round = 0; round < 10_000; round += 1) {
    listings.remember(`user ${round % 350}`, listing(String(round), (round * 37) % 5_000))
    assert.ok(listings.size() <= bound)
  }
  listings.remember('large', listing('large', bound + 1))
  assert.equal(listings.recall('large'), null)
  assert.ok(listings.size() <= bound)
})

test('who is forgotten is drawn by lot, and nobody else is', () => {
  const listings = createRememberedListings(6_000, () => 0)
  for (const user of ['ada', 'bob', 'eve', 'joe']) listings.remember(user, listing(user))
  const held = ['ada', 'bob', 'eve', 'joe'].map((user) => listings.recall(user)?.revision ?? null)
  assert.deepEqual(held, [null, 'bob', 'eve', 'joe'])
})

test('anybody of those who are held may be the one, by the number that was drawn', () => {
  for (const [drawn, forgotten] of [
    [0.25, 'bob'],
    [0.5, 'eve'],
    [0.999, 'joe'],
  ] as const) {
    const listings = createRememberedListings(6_000, () => drawn)
    const users = ['ada', 'bob', 'eve', 'joe']
    for (const user of users) listings.remember(user, listing(user))
    assert.deepEqual(
      users.filter((user) => listings.recall(user) === null),
      [forgotten],
    )
  }
})

test('what just fills the bound is held', () => {
  const one = createRememberedListings(1_000_000)
  one.remember('ada', listing('1'))
  const listings = createRememberedListings(2 * one.size())
  listings.remember('ada', listing('1'))
  listings.remember('bob', listing('1'))
  assert.equal(listings.size(), 2 * one.size())
  assert.ok(listings.recall('ada') !== null && listings.recall('bob') !== null)
})
