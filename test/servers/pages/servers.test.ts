import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Registering, editing and searching servers, and the preview of the API's answer.
 */

test('the API shows at once that a server is registered, edited, made a draft or deleted', async (t) => {
  const { signedIn, apiPort, store, faults } = await startDashboard(t)
  const { person } = await signedIn()
  const keys = [await person.issue('1'), await person.issue('2'), await person.issue('3')]
  const listed = async () => JSON.parse((await ask(apiPort, { key: keys.pop()! })).body).servers
  const page = await person.submit('/dashboard/servers/new', { ...ENTRY, form: 'f' })
  assert.match(page.body, /<b><bdi>Survival<\/bdi><\/b> was added\./)
  const [server] = await listed()
  assert.deepEqual(
    { ...server, id: 'any' },
    { id: 'any', ...ENTRY, slug: 'survival', version: null, listing_kind: null },
  )

  const path = `/dashboard/servers/${server.id}`
  assert.match((await person.get(path)).body, /value="play\.example\.com"/)
  await person.submit(path, { ...ENTRY, slug: '', version: '1.21', listing_kind: 'realm' })
  await person.submit('/dashboard/servers/change', { draft: '0', rows: server.id })
  const [edited] = await listed()
  assert.deepEqual(
    [edited.status, edited.version, edited.listing_kind, edited.slug],
    ['draft', '1.21', 'realm', null],
  )
  assert.match((await person.get(`${path}/delete`)).body, /Delete <bdi>Survival<\/bdi>/)
  const deleted = await person.submit('/dashboard/servers/change', deletionOf(server.id))
  assert.match(deleted.body, /<b><bdi>Survival<\/bdi><\/b> was deleted\./)
  assert.deepEqual(await listed(), [])
  assert.equal((await recordsOf(store).listUserRecords()).length, 1)
  assert.deepEqual(faults, [])
})

test('the preview has the same bytes as the API’s answer, with at most 100 servers', async (t) => {
  const { signedIn, apiPort, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entries = Array.from({ length: 130 }, (_, index) => ({
    name: `Server ${index} "</script>" 한`,
    address: `s${index}.example.com`,
    updated_at: 1_700_000_000_000_000 + index,
  }))
  await recordsOf(store).saveServers(user.id, null, entries, operatorAt(presentInstant()))
  const key = await person.issue('bot')
  const answer = await ask(apiPort, { key })
  const preview = await person.get('/dashboard/servers/preview.json')
  assert.equal(preview.body, answer.body)
  assert.equal(preview.headers['content-type'], 'application/json; charset=utf-8')
})

test('a page has 50 servers, and a search finds names, addresses and slugs with any characters', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entries = Array.from({ length: 120 }, (_, index) => ({
    name: `Server ${index}`,
    address: `s${index}.example.com`,
    slug: `slug-${index}`,
    updated_at: 1_700_000_000_000_000 + index,
  }))
  const odd = { name: '100%_\\ free', address: 'odd.example.com' }
  await recordsOf(store).saveServers(user.id, null, [...entries, odd], operatorAt(presentInstant()))
  const rows = async (query: string) => {
    const { body } = await person.get(`/dashboard/servers${query}`)
    return [...body.matchAll(/<a id="s\d+" [^>]*>([^<]*)</g)].map(([, name]) => name)
  }
  assert.equal((await rows('')).length, 50)
  const last = Array.from({ length: 21 }, (_, index) => `Server ${20 - index}`)
  assert.deepEqual(await rows('?page=3'), last)
  assert.match((await person.get('/dashboard/servers?page=2')).body, /Page 2 of 3/)
  assert.deepEqual(await rows('?q=server+119'), ['Server 119'])
  assert.deepEqual(await rows('?q=S7.EXAMPLE'), ['Server 7'])
  assert.deepEqual(await rows('?q=slug-11&page=1'), [
    'Server 119',
    'Server 118',
    'Server 117',
    'Server 116',
    'Server 115',
    'Server 114',
    'Server 113',
    'Server 112',
    'Server 111',
    'Server 110',
    'Server 11',
  ])
  for (const text of ['%', '_', '\\', '100%_\\'])
    assert.deepEqual(await rows(`?q=${encodeURIComponent(text)}`), ['100%_\\ free'])
  assert.match((await person.get('/dashboard/servers?q=nothing')).body, /No servers match/)
  for (const page of ['0', '-1', 'x', '1e9', '99'])
    assert.equal((await person.get(`/dashboard/servers?page=${page}`)).status, 200)
})

test('a server with an instant beyond the range of a number can be listed, edited and deleted', async (t) => {
  const { signedIn, store, faults } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entries = [-62_135_596_800_000_000, 253_402_300_799_000_000].map((updated_at, index) => ({
    name: `Far ${index}`,
    address: `far${index}.example`,
    updated_at,
  }))
  await recordsOf(store).saveServers(user.id, null, entries, operatorAt(presentInstant()))
  const page = (await person.get('/dashboard/servers')).body
  assert.match(page, />Jun 5, 2255<.*>Jul 28, 1684</s)
  const { servers } = await recordsOf(store).searchServers(user.id, {
    text: '',
    page: 1,
  })
  for (const { id } of servers) {
    const path = `/dashboard/servers/${id}`
    assert.equal((await person.get(path)).status, 200)
    assert.match((await person.submit(path, { ...ENTRY, slug: '' })).body, /was saved\./)
    const deleted = await person.submit('/dashboard/servers/change', deletionOf(id))
    assert.match(deleted.body, /was deleted\./)
  }
  assert.deepEqual(faults, [])
})

function deletionOf(server: string) {
  return { rows: server, confirmed: 'deleted' }
}
