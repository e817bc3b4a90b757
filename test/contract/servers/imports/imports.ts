import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerEntry } from '../../../../src/servers/server-entry.ts'
import type { Store } from '../../../../src/database/store.ts'
import type { User } from '../../../../src/accounts/user.ts'
import type { OpenFixture } from '../../fixture.ts'
import { addOrganization, addUsers, fields, register, saved, tally } from '../../people.ts'
import { serverImports } from '../../../../src/servers/records/server-imports.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { NOW } from '../../../fixtures/clock.ts'

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

  test('an entry keeps the fields that it omits and clears those that are null, but no slug', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const save = async (entry: ServerEntry) => {
      await recordsOf(store).saveServers(ada!.id, null, [entry], operatorAt(NOW))
      const listed = await recordsOf(store).listServers(ada!.id)
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
    assert.deepEqual(await save({ name, address: 'two.example.com', edition: 'bedrock' }), {
      ...FULL,
      address: 'two.example.com',
    })
    const emptied = { version: null, listing_kind: null }
    const bedrock = { name, address: 'two.example.com', edition: 'bedrock', slug: null }
    assert.deepEqual(await save({ ...bedrock, ...emptied }), {
      ...FULL,
      ...emptied,
      address: 'two.example.com',
    })
    const again = await save({ ...FULL, slug: null, address: 'two.example.com' })
    assert.deepEqual(again, { ...FULL, address: 'two.example.com' })
  })

  test('an entry changes no server of another user or organization', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    for (const entry of [FULL, { name: 'two', address: 'two.example.com' }]) {
      for (const place of [null, id, other])
        assert.deepEqual(await saveOne(store, ada!, place, entry), saved({ added: 1 }))
      assert.deepEqual(await saveOne(store, bob!, null, entry), saved({ added: 1 }))
      for (const place of [null, id, other])
        assert.deepEqual(await saveOne(store, ada!, place, entry), saved({ unchanged: 1 }))
    }
    const places = (await recordsOf(store).listServers(ada!.id)).map(
      ({ organization }) => organization,
    )
    assert.equal(places.length, 6)
    assert.equal(places.filter((place) => place === null).length, 2)
  })

  test('an import with an entry that means the server of another one writes nothing', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = ['a', 'b'].map((name) => ({ name, address: 'one.example.com' }))
    const outcome = await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW), {
      placeOf: (position) => `row ${position + 2}`,
    })
    assert.deepEqual(
      outcome.wrong.map(({ place, message }) => `${place} ${message}`),
      ['row 3 "address" means the same server as row 2; remove one, or give each a "slug"'],
    )
    assert.deepEqual(outcome, saved({ wrong: outcome.wrong }))
    assert.deepEqual(await namesOf(store, ada!), [])
  })

  test('an unchanged server keeps its instant, and an edited one changes now', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = ['a', 'b', 'c'].map((name) => ({ name, address: `${name}.example.com` }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    const edited = [entries[0]!, { ...entries[1]!, version: '2', updated_at: NOW }, entries[2]!]
    const outcome = await recordsOf(store).saveServers(ada!.id, null, edited, operatorAt(NOW + 9))
    assert.deepEqual(outcome, saved({ changed: 1, unchanged: 2 }))
    const listed = await recordsOf(store).listServers(ada!.id)
    assert.deepEqual(
      listed.map(({ name, updated_at }) => [name, updated_at]),
      [
        ['b', NOW + 9],
        ['c', NOW],
        ['a', NOW],
      ],
    )
    const older = entries.map((entry) => ({ ...entry, updated_at: NOW - 5 }))
    const again = await recordsOf(store).saveServers(ada!.id, null, older, operatorAt(NOW + 99))
    assert.deepEqual(again, saved({ unchanged: 3 }))
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), listed)
  })

  test('an entry without a slug changes the server without one, of several with its address', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const addresses = Array.from({ length: 8 }, (_, index) => `twins-${index}.example.com`)
    for (const [index, address] of addresses.entries())
      for (const slug of [`slug-${index}`, null]) await register(store, ada!, { address, slug })
    const entries = addresses.map((address) => ({ name: 'Survival', address, version: '2' }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    const listed = await recordsOf(store).listServers(ada!.id)
    for (const { version, slug } of listed) assert.equal(version === '2', slug === null)
  })

  test('a new status or edition that is a known one in another case is wrong', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entry = { name: 'a', address: 'a.example.com', status: 'Published', edition: 'JAVA' }
    const { wrong } = await saveOne(store, ada!, null, entry)
    assert.deepEqual(wrong, [
      {
        position: 0,
        place: 'entry 1',
        message: '"edition" must be written "java": "JAVA"',
        offered: { edition: 'java' },
      },
      {
        position: 0,
        place: 'entry 1',
        message: '"status" must be written "published": "Published"',
        offered: { status: 'published' },
      },
    ])
    // Another program may have written it.
    await register(store, ada!, entry)
    assert.deepEqual(await saveOne(store, ada!, null, entry), saved({ unchanged: 1 }))
  })

  test('an import removes the servers that were confirmed, unless an entry means them', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const [a, b, c] = [
      await register(store, ada!, { name: 'a', address: 'a.example.com' }),
      await register(store, ada!, { name: 'b', address: 'b.example.com' }),
      await register(store, ada!, { name: 'c', address: 'c.example.com' }),
    ]
    const entries = [{ name: 'b', address: 'b.example.com' }]
    const options = { prunes: true, removed: [a, b] }
    const { saveServers } = recordsOf(store)
    assert.deepEqual(
      await saveServers(ada!.id, null, entries, operatorAt(NOW), options),
      saved({ unchanged: 1, removed: 1 }),
    )
    const left = (await recordsOf(store).listServers(ada!.id)).map(({ id }) => id)
    assert.deepEqual(left.toSorted(), [b, c].toSorted())
  })

  test('an import that adds no server beyond the limit is saved, also if the user has more', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const names = ['a', 'b', 'c']
    const entries = names.map((name) => ({ name, address: `${name}.example.com` }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    const save = (some: ServerEntry[]) =>
      recordsOf(store).saveServers(ada!.id, null, some, operatorAt(NOW), { ownedMax: 2 })
    const changed = entries.map((entry) => ({ ...entry, version: '2' }))
    assert.deepEqual(await save(changed), saved({ changed: 3 }))
    const more = [...changed, { name: 'd', address: 'd.example.com' }]
    assert.deepEqual(await save(more), saved({ isTooMany: true }))
    assert.deepEqual((await namesOf(store, ada!)).toSorted(), names)
  })

  test('if one entry cannot be written, none is', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await saveOne(store, ada!, null, { name: 'before', address: 'one.example.com' })
    const entries = [
      { name: 'before', address: 'one.example.com', version: '2' },
      { name: 'added', address: 'two.example.com' },
      { name: null as unknown as string, address: 'three.example.com' },
      { name: 'last', address: 'four.example.com' },
    ]
    await assert.rejects(recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW)))
    assert.deepEqual(await namesOf(store, ada!), ['before'])
    const after = { name: 'before', address: 'one.example.com', version: '2' }
    assert.deepEqual(await saveOne(store, ada!, null, after), saved({ changed: 1 }))
  })

  orderContract(open)
}

function orderContract(open: OpenFixture): void {
  test('all servers of a user are listed, newest first, ties by id descending', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!, { slug: 'guild' })
    const ties = ['a', 'b', 'c'].map((name) => ({ name, address: `${name}.example.com` }))
    await recordsOf(store).saveServers(ada!.id, id, ties, operatorAt(NOW))
    await saveOne(store, ada!, null, { name: 'new', address: 'n.example', updated_at: NOW + 1 })
    await saveOne(store, ada!, null, { name: 'old', address: 'o.example', updated_at: NOW - 1 })
    await saveOne(store, bob!, null, FULL)
    const listed = await recordsOf(store).listServers(ada!.id)
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
        serverImports((index % 2 === 0 ? store : second).database).saveServers(
          ada!.id,
          null,
          entries,
          operatorAt(NOW),
        ),
      ),
    )
    assert.deepEqual(tally(saved.map(({ added }) => added)), { 20: 1, 0: 5 })
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 20)
  })

  test('an import and a form that take one slug at once leave it to one server', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    for (let round = 0; round < 10; round += 1) {
      const slug = `round-${round}`
      const [{ added }, written] = await Promise.all([
        recordsOf(second).saveServers(ada!.id, null, [{ ...FULL, slug }], operatorAt(NOW)),
        recordsOf(store).insertServer(
          ada!.id,
          crypto.randomUUID(),
          fields({ slug }),
          operatorAt(NOW),
        ),
      ])
      assert.equal(written, added === 1 ? 'slug taken' : 'written')
    }
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 10)
  })
}

function saveOne(store: Store, user: User, place: string | null, entry: ServerEntry) {
  return recordsOf(store).saveServers(user.id, place, [entry], operatorAt(NOW))
}

async function namesOf(store: Store, user: User): Promise<string[]> {
  return (await recordsOf(store).listServers(user.id)).map(({ name }) => name)
}
