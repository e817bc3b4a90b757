import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { confirm, confirmationOf } from '../../fixtures/checked-import.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * What the check of an import says about its rows.
 */

const IMPORT = '/dashboard/servers/import'

test('a row that means the server of another one is wrong, in the check and when it is confirmed', async (t) => {
  const { person, store, userId } = await withServers(t)
  const text = 'name,address\nnumber 1,s0.example.com\nother,s0.example.com\n'
  const wrong = await person.upload(IMPORT, { text })
  assert.equal(wrong.status, 422)
  assert.match(
    textOf(wrong.body),
    /row 3: "address" means the same server as row 2; remove one, or give each a "slug"/,
  )
  const entry = { name: 'number 3', address: 's2.example.com' }
  const csv = `name,address\n\n${entry.name},${entry.address}\n`
  const sent = await person.upload(IMPORT, { text: csv })
  const twins = ['one', 'two'].map((slug) => ({ ...entry, slug }))
  await recordsOf(store).saveServers(userId, null, twins, operatorAt(presentInstant()))
  const refused = await person.upload(IMPORT, confirmationOf(sent.body))
  assert.equal(refused.status, 409)
  assert.match(
    textOf(refused.body),
    /row 3: "address" is the address of 2 servers of this user; give the "id" of one/,
  )
  assert.doesNotMatch(refused.body, /name="plan"/)
})

test('the check shows the old and the new value of each field that changes', async (t) => {
  const { person } = await withServers(t)
  const text = 'name,address,version,status\nnumber 1,s0.example.com,<1.2>,draft\n'
  const sent = await person.upload(IMPORT, { text })
  const { body } = sent
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
  assert.equal(sent.status, 200, sent.body)
  const check = sent
  assert.match(
    textOf(check.body),
    /4 values differ from a known edition or status only in case\. The import takes the known one\./,
  )
  assert.match(textOf(check.body), /1 new, 1 changed, 1 unchanged\./)
  await confirm(person, check.body)
  const saved = await recordsOf(store).listServers(userId)
  assert.deepEqual(
    saved.map(({ name, edition, status }) => `${name} ${edition} ${status}`).toSorted(),
    ['f java Published', 'new bedrock published', 'number 1 java draft', 'number 2 java published'],
  )
})

test('the check shows servers that change before new ones, forty of each', async (t) => {
  const { person } = await withServers(t)
  const added = Array.from({ length: 60 }, (_, index) => ({
    name: 'n',
    address: `n${index}.example`,
  }))
  const changed = [1, 2].map((number) => ({
    uuid: 'ignored',
    name: `number ${number}`,
    address: `s${number - 1}.example.com`,
    version: '2',
  }))
  const { body } = await person.upload(IMPORT, { text: JSON.stringify([...added, ...changed]) })
  assert.match(textOf(body), /20 more servers are not shown\./)
  assert.match(textOf(body), /The import ignores "uuid"\./)
  assert.equal(rows(body), 42)
  assert.ok(body.indexOf('>changed<') < body.indexOf('>new<'))
})

test("the API's answer is imported, and the check says what it ignores", async (t) => {
  const { person } = await withServers(t)
  const servers = [{ id: 'any', name: 'moved', slug: 'moved', address: 'm.example' }]
  const sent = await person.upload(IMPORT, {}, Buffer.from(JSON.stringify({ servers })))
  const { body } = sent
  assert.match(textOf(body), /The import ignores "id"\..*Import 1 server/s)
})

test('a file with only servers of organizations imports nothing, and the check says so', async (t) => {
  const { person } = await withServers(t)
  const text = JSON.stringify([{ name: 'ours', address: 'o.example', organization: 'guild' }])
  const sent = await person.upload(IMPORT, { text })
  const { body } = sent
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
  assert.match(sent.body, /0 new, 0 changed, 2,102 unchanged\..*There is nothing to import/s)
  const more = await person.upload(IMPORT, {}, Buffer.from(`${file.body},n,n.example,,,,,,\r\n`))
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

function textOf(body: string): string {
  return body.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"')
}
