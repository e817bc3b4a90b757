import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The table of servers: its order, filter, total and the line where the API stops.
 */

const STOP = 'The API stops here.'

test('a line stands behind the 100th server, and the page says how many the API returns', async (t) => {
  const { person } = await withServers(t, 150)
  const [first, second, third] = [
    await linesOf(person, ''),
    await linesOf(person, '?page=2'),
    await linesOf(person, '?page=3'),
  ]
  assert.equal(first.indexOf(STOP), -1)
  assert.deepEqual([second.indexOf(STOP), second.length, second[49]], [50, 51, 'Server 100'])
  assert.deepEqual([third.indexOf(STOP), third.length, third[1]], [0, 51, 'Server 101'])
  assert.match(
    (await person.get('/dashboard/servers')).body,
    /150 servers · 100 returned by the API</,
  )

  const { person: few } = await withServers(t, 100)
  assert.equal((await linesOf(few, '?page=2')).indexOf(STOP), -1)
  assert.match((await few.get('/dashboard/servers')).body, />100 servers</)
})

test('in another order each server beyond the 100th says that it is not returned', async (t) => {
  const { person } = await withServers(t, 102)
  const { body } = await person.get('/dashboard/servers?sort=changed')
  assert.deepEqual(await linesOf(person, '?sort=changed').then((lines) => lines.slice(0, 3)), [
    'Server 102',
    'Server 101',
    'Server 100',
  ])
  assert.equal(body.split('<br>not returned').length - 1, 2)
  assert.equal(body.includes(STOP), false)
})

test('the table sorts by each column and filters by status, and buttons keep the search', async (t) => {
  const { person } = await withServers(t, 60)
  assert.deepEqual((await linesOf(person, '?sort=name')).slice(0, 3), [
    'Server 1',
    'Server 2',
    'Server 3',
  ])
  assert.deepEqual((await linesOf(person, '?sort=-name')).slice(0, 2), ['Server 60', 'Server 59'])
  const { body } = await person.get('/dashboard/servers?sort=name&q=SERVER+1&status=&status=draft')
  assert.match(
    body,
    /aria-sort="ascending"><button[^>]* value="-name">Name<span aria-hidden="true">↑</,
  )
  assert.match(body, /name="q" type="search" value="SERVER 1"/)
  assert.match(body, /<input type="hidden" name="status" value="draft">/)
  assert.match(body, /<input type="hidden" name="sort" value="name">/)
  assert.match(body, /value="draft" aria-current="true">Drafts</)
  assert.match(body, />5 of 60 servers</)
  assert.doesNotMatch(body, /value="other"/)
  for (const query of ['sort=x', 'sort=-', 'status=x', 'sort=__proto__', 'status=constructor'])
    assert.equal((await linesOf(person, `?${query}`)).length, 50, query)
})

test('an empty page names the filter that found nothing, and leads to a search without it', async (t) => {
  const { person } = await withServers(t, 12)
  const { body } = await person.get('/dashboard/servers?q=Server+1&status=other')
  assert.match(body, /<h2>No servers with another status match “<bdi>Server 1<\/bdi>”<\/h2>/)
  assert.match(body, /href="\/dashboard\/servers\?q=Server\+1">Search any status<\/a>/)
  const none = (await person.get('/dashboard/servers?status=other')).body
  assert.match(none, /<h2>No servers with another status<\/h2>.*>Show all servers<\/a>/s)
  const beyond = (await person.get('/dashboard/servers?q=Server&sort=name&page=2')).body
  assert.match(beyond, /<h2>No servers on this page<\/h2>/)
  assert.match(beyond, /href="\/dashboard\/servers\?q=Server&amp;sort=name">First page<\/a>/)
  const wrong = (await person.get('/dashboard/servers?q=nothing&status=draft')).body
  assert.match(wrong, /No drafts match “<bdi>nothing<\/bdi>”<\/h2>\n\n.*>Search any status<\/a>/)
  const plain = (await person.get('/dashboard/servers?q=nothing')).body
  assert.match(plain, /No servers match “<bdi>nothing<\/bdi>”.*>Clear search<\/a>/s)
})

test('a row has the name, address, edition, version, status and age of its server', async (t) => {
  const { store, signedIn } = await startDashboard(t)
  const { person, user } = await signedIn()
  const now = presentInstant()
  const entry = { name: 'A', address: 'a.example', edition: 'bedrock', version: '1.21.50' }
  const updated_at = now - 7_200_000_000
  await recordsOf(store).saveServers(
    user.id,
    null,
    [{ ...entry, status: 'archived', updated_at }],
    operatorAt(now),
  )
  const { body } = await person.get('/dashboard/servers')
  const row = /<tr><td><input.*?<\/tr>/s.exec(body)![0]
  const cells = row.split(/<t[dh][^>]*>/).map((cell) => cell.replaceAll(/<[^>]*>/g, '').trim())
  assert.deepEqual(cells.slice(2), [
    'A',
    'a.example',
    'bedrock 1.21.50',
    'archived',
    '2 hours ago',
    'Publish',
  ])
  assert.match(row, /<td title="\d{4}-\d\d-\d\d \d\d:\d\d UTC">2 hours ago/)
  assert.match(body, /<button class="quiet" name="status" value="other">Other</)
})

test('a long name is whole in the row and in its tooltip, with invisible characters spelled out', async (t) => {
  const { store, signedIn } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entry = { name: `${'서버'.repeat(90)}"\u202e`, address: `${'a'.repeat(63)}.example` }
  await recordsOf(store).saveServers(user.id, null, [entry], operatorAt(presentInstant()))
  const { body } = await person.get('/dashboard/servers')
  const shown = `${'서버'.repeat(90)}&quot;\\u{202e}`
  assert.ok(body.includes(` title="${shown}">${shown}</a>`), body)
  assert.ok(body.includes(`<td>${entry.address}</td>`))
})

test('no two buttons of a row have one name, and Select all selects a page without script', async (t) => {
  const { person } = await withServers(t, 60)
  const { body } = await person.get('/dashboard/servers?select=2')
  assert.match(body, /Page 2 of 2/)
  assert.equal(body.match(/<input type="checkbox" [^>]* checked>/g)?.length, 10)
  const labels = [...body.matchAll(/<button id="b(\d+)" aria-labelledby="b\1 s\1"/g)]
  assert.equal(labels.length, 10)
  assert.doesNotMatch((await person.get('/dashboard/servers')).body, / checked>/)
})

async function withServers(
  t: Parameters<typeof startDashboard>[0],
  count: number,
): Promise<{ person: Person } & TestDashboard> {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const now = presentInstant()
  const entries = Array.from({ length: count }, (_, index) => ({
    name: `Server ${index + 1}`,
    address: `s${index + 1}.example.com`,
    status: index % 2 === 0 ? 'published' : 'draft',
    updated_at: now - index,
  }))
  await recordsOf(dashboard.store).saveServers(user.id, null, entries, operatorAt(now))
  return { ...dashboard, person }
}

/** The names of a page's rows, with STOP where its line stands. */
async function linesOf(person: Person, query: string): Promise<string[]> {
  const { body } = await person.get(`/dashboard/servers${query}`)
  const found = body.matchAll(/<a id="s\d+" [^>]*>([^<]*)<|(The API stops here\.)/g)
  return [...found].map(([, name, stop]) => name ?? stop!)
}
