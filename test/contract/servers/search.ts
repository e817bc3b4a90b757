import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { PAGE_SIZE, SEARCHED_MAX, type ServerPage } from '../../../src/servers/server-search.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, join, register } from '../people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function searchContract(open: OpenFixture): void {
  test("a search finds the user's personal servers, newest first, ties by id", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await register(store, ada!, { name: 'common', organization_id: id })
    await register(store, bob!, { name: 'of Bob' })
    const ties = [await register(store, ada!), await register(store, ada!)].toSorted()
    const older = await register(store, ada!, {}, NOW - 1)
    const newer = await register(store, ada!, {}, NOW + 1)
    const found = await recordsOf(store).searchServers(ada!.id, { text: '', page: 1 })
    assert.deepEqual(
      found.servers.map((server) => server.id),
      [newer, ...ties.toReversed(), older],
    )
    assert.equal(found.total, 4)
    assert.deepEqual(found.servers[0], {
      ...(await recordsOf(store).findServer(ada!.id, newer)),
      rank: 1,
    })
  })

  test('members find the servers of their organization; strangers find none', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    await addOrganization(store, eve!)
    await join(store, id, ada!, bob!)
    await register(store, ada!, { name: 'of Ada', organization_id: id }, NOW)
    await register(store, bob!, { name: 'of Bob', organization_id: id }, NOW + 1)
    await register(store, ada!, { name: 'elsewhere', organization_id: other })
    await register(store, ada!, { name: 'personal' })
    const search = (userId: string, organization: string, text = '') =>
      recordsOf(store).searchOrganizationServers(userId, organization, {
        text,
        page: 1,
      })
    for (const user of [ada!, bob!])
      assert.deepEqual(namesOf(await search(user.id, id)), ['of Bob', 'of Ada'])
    assert.deepEqual(namesOf(await search(bob!.id, id, 'ADA')), ['of Ada'])
    const counts = { published: 0, draft: 0, other: 0 }
    const none = { servers: [], total: 0, ownMatches: 0, registered: 0, counts }
    assert.deepEqual(await search(eve!.id, id), none)
    assert.deepEqual(await search(bob!.id, other), none)
    for (const nothing of [randomUUID(), 'nothing'])
      assert.deepEqual(await search(ada!.id, nothing), none)
  })

  test('a page has PAGE_SIZE servers, and each server is on one page', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 2 * PAGE_SIZE + 1 }, (_, index) => ({
      name: `Server ${index}`,
      address: `s${index}.example.com`,
      updated_at: NOW - index,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    for (const text of ['', 'sErVeR']) {
      const pages = []
      for (const page of [1, 2, 3, 4])
        pages.push(await recordsOf(store).searchServers(ada!.id, { text, page }))
      assert.deepEqual(
        pages.map(({ servers }) => servers.length),
        [PAGE_SIZE, PAGE_SIZE, 1, 0],
      )
      assert.deepEqual(
        pages.slice(0, 3).map(({ total }) => total),
        Array(3).fill(101),
      )
      assert.deepEqual(
        pages.flatMap(namesOf),
        entries.map(({ name }) => name),
      )
    }
  })

  test('a search covers the newest SEARCHED_MAX servers', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: SEARCHED_MAX + 1 }, (_, index) => ({
      name: `<${index}>`,
      address: `s${index}.example.com`,
      updated_at: NOW - index,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    const search = (text: string, page = 1) =>
      recordsOf(store).searchServers(ada!.id, { text, page })
    assert.equal((await search('')).total, SEARCHED_MAX)
    assert.equal((await search('<')).total, SEARCHED_MAX)
    assert.deepEqual(namesOf(await search(`<${SEARCHED_MAX - 1}>`)), [`<${SEARCHED_MAX - 1}>`])
    assert.deepEqual(namesOf(await search(`<${SEARCHED_MAX}>`)), [])
    const last = await search('', SEARCHED_MAX / PAGE_SIZE)
    // Of two servers with one instant the one with the lower id is left out.
    const { id, name, updated_at } = last.servers.at(-1)!
    const tie = { name: 'tie', address: 'tie.example.com', updated_at }
    await recordsOf(store).saveServers(ada!.id, null, [tie], operatorAt(NOW))
    const added = (await recordsOf(store).listServers(ada!.id)).find(
      (server) => server.name === 'tie',
    )!
    assert.equal((await search('tie')).total, added.id > id ? 1 : 0)
    assert.equal((await search(name)).total, added.id > id ? 0 : 1)
    assert.equal((await search('', SEARCHED_MAX / PAGE_SIZE + 1)).servers.length, 0)
  })
}

/** Runs on every locale: text is found and sorted the same way on each. */
export function textContract(open: OpenFixture): void {
  test('a server is found by any part of its name, address or slug', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await register(store, ada!, { name: 'In the name', slug: null }, NOW + 2)
    await register(store, ada!, { address: 'in-the-address.example.com' }, NOW + 1)
    await register(store, ada!, { slug: 'in-the-slug' })
    const search = async (text: string) =>
      namesOf(await recordsOf(store).searchServers(ada!.id, { text, page: 1 }))
    assert.equal((await search('the')).length, 3)
    for (const text of ['in the', 'THE NAME', 'the-addr', '-SLUG'])
      assert.equal((await search(text)).length, 1)
    assert.deepEqual(await search('in the name '), [])
  })

  test('letters of every alphabet match in either case', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    for (const [name, texts] of [
      ['ÜBERLEBEN', ['überleben', 'Überleben', 'BERL']],
      ['выживание', ['ВЫЖИВАНИЕ', 'Выжив']],
      ['ΟΔΟΣ', ['οδος', 'οδοσ']],
      ['Große Straße', ['GROSSE STRASSE', 'große straße']],
      ['İstanbul', ['İSTANBUL', 'stanbul']],
      ['生存服务器', ['服务']],
      ['🏰 Castle', ['🏰 castle']],
    ] as const) {
      await register(store, ada!, { name })
      for (const text of texts) {
        const found = await recordsOf(store).searchServers(ada!.id, { text, page: 1 })
        assert.deepEqual(namesOf(found), [name], text)
      }
    }
    const found = await recordsOf(store).searchServers(ada!.id, {
      text: 'uberleben',
      page: 1,
    })
    assert.deepEqual(namesOf(found), [])
  })

  test('users are listed by the bytes of their emails in every locale', async (t) => {
    const { store } = await open(t)
    await addUsers(store, 'b', 'a_', 'a1', 'aa')
    const names = (await recordsOf(store).listUserRecords()).map(({ email }) =>
      email?.replace(/@.*/, ''),
    )
    assert.deepEqual(names, ['a1', 'a_', 'aa', 'b'])
  })

  test('wildcards of SQL stand for themselves in a search', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    for (const name of ['100%', '100 a', 'a_b', 'a b', 'a\\b', '[a]', "it's"])
      await register(store, ada!, { name })
    for (const [text, name] of [
      ['0%', '100%'],
      ['a_', 'a_b'],
      ['\\', 'a\\b'],
      ['[a', '[a]'],
      ["t's", "it's"],
    ] as const)
      assert.deepEqual(namesOf(await recordsOf(store).searchServers(ada!.id, { text, page: 1 })), [
        name,
      ])
    for (const text of ['%', '_', '\\', '*', '?'])
      assert.ok((await recordsOf(store).searchServers(ada!.id, { text, page: 1 })).total <= 1)
  })
}

function namesOf({ servers }: ServerPage): string[] {
  return servers.map(({ name }) => name)
}
