import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerEntry } from '../../../src/listing/servers/server-entry.ts'
import type { Store } from '../../../src/listing/store.ts'
import type { User } from '../../../src/listing/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, fields, NOW, register, tally } from '../people.ts'

const FULL = {
  name: 'one',
  address: 'one.example.com',
  slug: 'one',
  edition: 'bedrock',
  status: 'draft',
  version: '1.21',
  listing_kind: 'realm',
}

/** How `saveServers` writes the entries of an import. */
export function importsContract(open: OpenFixture): void {
  test('a store knows that a process may be serving its database', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    assert.deepEqual([store.isServed(), second.isServed()], [true, true])
  })

  test('an entry keeps the fields that it omits and clears those that are null', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const save = async (entry: ServerEntry) => {
      await store.saveServers(ada!.id, null, [entry], NOW)
      const listed = await store.listServers(ada!.id)
      assert.equal(listed.length, 1)
      const { organization, updated_at, id: _, ...server } = listed[0]!
      assert.deepEqual([organization, updated_at], [null, NOW])
      return server
    }
    assert.deepEqual(await save(FULL), FULL)
    const { name } = FULL
    assert.deepEqual(await save({ name, address: 'two.example.com', slug: 'one' }), {
      ...FULL,
      address: 'two.example.com',
    })
    assert.deepEqual(await save({ name, address: 'two.example.com' }), {
      ...FULL,
      address: 'two.example.com',
    })
    const emptied = { slug: null, version: null, listing_kind: null }
    assert.deepEqual(await save({ name, address: 'two.example.com', ...emptied }), {
      ...FULL,
      ...emptied,
      address: 'two.example.com',
    })
    const again = await save({ ...FULL, slug: null, address: 'two.example.com' })
    assert.deepEqual(again, { ...FULL, slug: null, address: 'two.example.com' })
    assert.equal((await save({ name, address: 'two.example.com', slug: null })).slug, null)
  })

  test('an entry changes no server of another user or organization', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    for (const entry of [FULL, { name: 'two', address: 'two.example.com' }]) {
      for (const place of [null, id, other])
        assert.deepEqual(await saveOne(store, ada!, place, entry), { added: 1, updated: 0 })
      assert.deepEqual(await saveOne(store, bob!, null, entry), { added: 1, updated: 0 })
      for (const place of [null, id, other])
        assert.deepEqual(await saveOne(store, ada!, place, entry), { added: 0, updated: 1 })
    }
    const places = (await store.listServers(ada!.id)).map(({ organization }) => organization)
    assert.equal(places.length, 6)
    assert.equal(places.filter((place) => place === null).length, 2)
  })

  test('a later entry of an import finds the server of an earlier one', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = ['a', 'b'].map((name) => ({ name, address: 'one.example.com' }))
    const saved = await store.saveServers(ada!.id, null, entries, NOW)
    assert.deepEqual(saved, { added: 1, updated: 1 })
    assert.deepEqual(await namesOf(store, ada!), ['b'])
  })

  test('of two servers with one address an import changes the same one in each of its batches', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const address = 'twins.example.com'
    for (let index = 0; index < 2; index += 1) await register(store, ada!, { address })
    const names = ['one', 'two', 'three']
    for (const batch of [names, names.slice(1), names.slice(2)]) {
      const entries = batch.map((name) => ({ name, address }))
      await store.saveServers(ada!.id, null, entries, NOW)
    }
    const listed = await store.listServers(ada!.id)
    assert.deepEqual(tally(listed.map(({ name }) => name)), { Survival: 1, three: 1 })
  })

  test('an entry without a slug changes the server without one, of several with its address', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const addresses = Array.from({ length: 8 }, (_, index) => `twins-${index}.example.com`)
    for (const [index, address] of addresses.entries())
      for (const slug of [`slug-${index}`, null]) await register(store, ada!, { address, slug })
    const entries = addresses.map((address) => ({ name: 'changed', address }))
    await store.saveServers(ada!.id, null, entries, NOW)
    const listed = await store.listServers(ada!.id)
    for (const { name, slug } of listed) assert.equal(name === 'changed', slug === null)
  })

  test('if one entry cannot be written, none is', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await saveOne(store, ada!, null, { name: 'before', address: 'one.example.com' })
    const entries = [
      { name: 'after', address: 'one.example.com' },
      { name: 'added', address: 'two.example.com' },
      { name: null as unknown as string, address: 'three.example.com' },
      { name: 'last', address: 'four.example.com' },
    ]
    await assert.rejects(store.saveServers(ada!.id, null, entries, NOW))
    assert.deepEqual(await namesOf(store, ada!), ['before'])
    await saveOne(store, ada!, null, { name: 'after', address: 'one.example.com' })
    assert.deepEqual(await namesOf(store, ada!), ['after'])
  })

  orderContract(open)
}

function orderContract(open: OpenFixture): void {
  test('all servers of a user are listed, newest first, ties by id descending', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!, { slug: 'guild' })
    const ties = ['a', 'b', 'c'].map((name) => ({ name, address: `${name}.example.com` }))
    await store.saveServers(ada!.id, id, ties, NOW)
    await saveOne(store, ada!, null, { name: 'new', address: 'n.example', updated_at: NOW + 1 })
    await saveOne(store, ada!, null, { name: 'old', address: 'o.example', updated_at: NOW - 1 })
    await saveOne(store, bob!, null, FULL)
    const listed = await store.listServers(ada!.id)
    const tied = listed.slice(1, 4).map((server) => server.id)
    assert.deepEqual(tied, tied.toSorted().toReversed())
    assert.deepEqual(
      listed.map(({ organization, updated_at }) => [organization, updated_at]),
      [[null, NOW + 1], ...ties.map(() => ['guild', NOW]), [null, NOW - 1]],
    )
  })

  test('concurrent imports of one list add each server once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 20 }, (_, index) => ({
      name: `Server ${index}`,
      address: `s${index}.example.com`,
      ...(index % 2 === 0 ? { slug: `server-${index}` } : {}),
    }))
    const saved = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 === 0 ? store : second).saveServers(ada!.id, null, entries, NOW),
      ),
    )
    assert.deepEqual(tally(saved.map(({ added }) => added)), { 20: 1, 0: 5 })
    assert.equal((await store.listServers(ada!.id)).length, 20)
  })

  test('an import and a form that take one slug at once leave it to one server', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    for (let round = 0; round < 10; round += 1) {
      const slug = `round-${round}`
      const [{ added }, written] = await Promise.all([
        second.saveServers(ada!.id, null, [{ ...FULL, slug }], NOW),
        store.insertServer(ada!.id, crypto.randomUUID(), fields({ slug }), NOW),
      ])
      assert.equal(written, added === 1 ? 'slug taken' : 'written')
    }
    assert.equal((await store.listServers(ada!.id)).length, 10)
  })
}

function saveOne(store: Store, user: User, place: string | null, entry: ServerEntry) {
  return store.saveServers(user.id, place, [entry], NOW)
}

async function namesOf(store: Store, user: User): Promise<string[]> {
  return (await store.listServers(user.id)).map(({ name }) => name)
}
