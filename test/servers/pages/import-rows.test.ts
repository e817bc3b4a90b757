import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * What the check of an import says about its rows.
 */

const IMPORT = '/dashboard/servers/import'

test('a row that means the server of another one is wrong, in the check and when it is confirmed', async (t) => {
  const { person, store, userId } = await withServers(t)
  const text = 'name,address\nnumber 1,s0.example.com\nother,s0.example.com\nthird,s1.example.com\n'
  const wrong = await person.upload(IMPORT, { text })
  assert.equal(wrong.status, 422)
  assert.match(
    textOf(wrong.body),
    /row 3: means the same server as row 2, but has "name" "other" instead of "number 1"\. /,
  )
  assert.match(textOf(wrong.body), /row 4: "name" is "third", but the server .* is "number 2"\. /)
  const entry = { name: 'number 3', address: 's2.example.com' }
  const csv = `name,address\nnumber 1,s0.example.com\n\n${entry.name},${entry.address}\n`
  const sent = await person.upload(IMPORT, { text: csv })
  const path = String(sent.headers.location)
  const plan = planOf((await person.get(path)).body)
  await recordsOf(store).saveServers(
    userId,
    null,
    [{ ...entry, name: 'taken' }],
    operatorAt(presentInstant()),
  )
  const refused = await person.post(path, { plan })
  assert.equal(refused.status, 409)
  assert.match(textOf(refused.body), /row 4: "name" is "number 3", but the server .* is "taken"\. /)
  assert.doesNotMatch(refused.body, /name="plan"/)
})

test('the check shows the old and the new value of each field that changes', async (t) => {
  const { person } = await withServers(t)
  const text = 'name,address,version,status\nnumber 1,s0.example.com,<1.2>,draft\n'
  const sent = await person.upload(IMPORT, { text })
  const { body } = await person.get(String(sent.headers.location))
  assert.match(textOf(body), /version: none → &lt;1\.2&gt;/)
  assert.match(textOf(body), /status: published → draft/)
})

test('a known edition or status in another case is taken as the known one, and the check says so', async (t) => {
  const { person, store, userId } = await withServers(t)
  const foreign = { name: 'f', address: 'f.example', status: 'Published' }
  const text = `name,address,status,edition
number 1,s0.example.com,Draft,JAVA
new,new.example,PUBLISHED,Bedrock
f,f.example,Published,
`
  await recordsOf(store).saveServers(userId, null, [{ ...foreign, status: 'x' }], operatorAt(1))
  const [stored] = (await recordsOf(store).listServers(userId)).filter(({ name }) => name === 'f')
  const { updateServer } = recordsOf(store)
  const values = { ...stored!, organization_id: null, status: 'Published' }
  assert.equal(await updateServer(userId, stored!.id, values, operatorAt(2)), 'written')
  const sent = await person.upload(IMPORT, { text })
  assert.equal(sent.status, 303, sent.body)
  const path = String(sent.headers.location)
  const check = await person.get(path)
  assert.match(
    textOf(check.body),
    /4 values differ from a known edition or status only in case\. The import takes the known one\./,
  )
  assert.match(textOf(check.body), /1 new, 1 changed, 1 unchanged\./)
  await person.submit(path.replace(/\?.*/, ''), { plan: planOf(check.body) })
  const saved = await recordsOf(store).listServers(userId)
  assert.deepEqual(
    saved.map(({ name, edition, status }) => `${name} ${edition} ${status}`).toSorted(),
    ['f java Published', 'new bedrock published', 'number 1 java draft', 'number 2 java published'],
  )
})

test('the check shows all servers, only new ones or only changed ones', async (t) => {
  const { person } = await withServers(t)
  const added = Array.from({ length: 60 }, (_, index) => ({
    name: 'n',
    address: `n${index}.example`,
  }))
  const changed = [1, 2].map((number) => ({
    id: 'ignored',
    name: `number ${number}`,
    address: `s${number - 1}.example.com`,
    version: '2',
  }))
  const text = JSON.stringify([...added, ...changed])
  const sent = await person.upload(IMPORT, { text })
  const path = String(sent.headers.location)
  const all = await person.get(path)
  assert.match(textOf(all.body), /All 62New 60Changed 2.*22 more servers are not shown\./s)
  const [, href = ''] = /href="([^"]+)">Changed 2</.exec(all.body) ?? []
  const url = new URL(href.replaceAll('&amp;', '&'), `http://x${path}`)
  const only = await person.get(`${url.pathname}${url.search}`)
  assert.equal(rows(only.body), 2)
  assert.match(only.body, /aria-current="true">Changed 2</)
  assert.match(textOf(only.body), /The import ignores "id"\./)
  assert.doesNotMatch(only.body, /not shown/)
  const fresh = await person.get(`${path}&show=new`)
  assert.deepEqual([rows(fresh.body), planOf(fresh.body)], [40, planOf(all.body)])
  assert.match(textOf(fresh.body), /20 more servers are not shown\./)
})

test("the API's answer is imported, and the check says what it ignores", async (t) => {
  const { person } = await withServers(t)
  const servers = [{ id: 'any', name: 'moved', slug: 'moved', address: 'm.example' }]
  const sent = await person.upload(IMPORT, {}, Buffer.from(JSON.stringify({ servers })))
  const { body } = await person.get(String(sent.headers.location))
  assert.match(textOf(body), /The import ignores "id"\..*Import 1 server/s)
})

test('a file with only servers of organizations imports nothing, and the check says so', async (t) => {
  const { person } = await withServers(t)
  const text = JSON.stringify([{ name: 'ours', address: 'o.example', organization: 'guild' }])
  const sent = await person.upload(IMPORT, { text })
  const { body } = await person.get(String(sent.headers.location))
  assert.match(
    textOf(body),
    /The import leaves out 1 server under organizations\..*The file has no servers of yours outside/s,
  )
})

test('an owner of more than 500 servers sees their number and can import the export', async (t) => {
  const { person, store, userId } = await withServers(t)
  const entries = Array.from({ length: 2_100 }, (_, index) => ({
    name: 'a',
    address: `x${index}.example`,
  }))
  await recordsOf(store).saveServers(userId, null, entries, operatorAt(1))
  const { body } = await person.get('/dashboard/servers')
  assert.match(textOf(body), /2,102 servers · the newest 2,000 listed · 100 returned by the API/)
  const file = await person.get('/dashboard/servers/export.csv')
  const sent = await person.upload(IMPORT, {}, Buffer.from(file.body))
  const check = await person.get(String(sent.headers.location))
  assert.match(check.body, /0 new, 0 changed, 2,102 unchanged\..*There is nothing to import/s)
  const more = await person.upload(IMPORT, {}, Buffer.from(`${file.body}n,n.example,,,,,,\r\n`))
  assert.match(textOf(more.body), /has 2,103 servers, more than the limit of 2,102/)
})

async function withServers(t: Parameters<typeof startDashboard>[0]) {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const entries = [1, 2].map((number) => ({
    name: `number ${number}`,
    address: `s${number - 1}.example.com`,
  }))
  await recordsOf(dashboard.store).saveServers(
    user.id,
    null,
    entries,
    operatorAt(presentInstant() - 60_000_000),
  )
  return { ...dashboard, person, userId: user.id }
}

const rows = (body: string): number => body.split('<th scope="row">').length - 1

function planOf(body: Answer['body']): string {
  const plan = /name="plan" value="([0-9a-f]{64})"/.exec(body)?.[1]
  assert.ok(plan !== undefined, body)
  return plan
}

function textOf(body: string): string {
  return body.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"')
}
