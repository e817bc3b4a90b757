import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { confirm, confirmationOf } from '../../fixtures/checked-import.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Importing servers: read, checked and confirmed. Exporting them.
 */

const IMPORT = '/dashboard/servers/import'
const CSV =
  'name,address,version\r\nLagoon,lagoon.example,1.21\r\n"Tide, ""low""",tide.example,\r\n'

test('an import is checked first, writes nothing before it is confirmed, and is saved once', async (t) => {
  const { person, store, userId } = await withServers(t)
  const text = JSON.stringify([
    { name: 'number 1', address: 's0.example.com' },
    { name: 'number 2', address: 's1.example.com', version: '2' },
    { name: '"new" & <b>', address: 'new.example.com' },
  ])
  const before = await recordsOf(store).listServers(userId)
  const { status, body } = await person.upload(IMPORT, { text, form: 'f' })
  assert.equal(status, 200, body)
  assert.match(body, /1 new, 1 changed, 1 unchanged\./)
  assert.match(body, /<bdi>number 2<\/bdi>.*changed<\/span><ul><li>version: none → <code><bdi>2</s)
  assert.deepEqual(await recordsOf(store).listServers(userId), before)

  const confirmed = confirmationOf(body)
  assert.deepEqual([confirmed.text, confirmed.form], [text, 'f'])
  const done = await confirm(person, body)
  assert.match(done.body, /Import finished: 1 new, 1 changed\./)
  const after = await recordsOf(store).listServers(userId)
  assert.deepEqual(after.map(({ name }) => name).toSorted(), [
    '"new" & <b>',
    'number 1',
    'number 2',
  ])
  assert.match((await confirm(person, body)).body, /Import finished: 1 new, 1 changed\./)
  assert.deepEqual(await recordsOf(store).listServers(userId), after)
})

test('an import can be undone, and the export is then as before, byte for byte', async (t) => {
  const { person, store, userId } = await withServers(t)
  const entries = Array.from({ length: 150 }, (_, index) => ({
    name: `server ${index}`,
    address: `x${index}.example.com`,
    slug: `slug-${index}`,
    updated_at: presentInstant() - index * 1_000_000,
  }))
  await recordsOf(store).saveServers(userId, null, entries, operatorAt(1))
  const before = await person.get('/dashboard/servers/export.csv')
  const changed = entries.map(({ name, slug }, index) => ({
    name: `${name} renamed`,
    address: `y${index}.example.com`,
    slug,
    ...(index % 2 === 0 ? { edition: 'bedrock', status: 'draft' } : { version: '1.21' }),
  }))
  const added = { name: 'new', address: 'new.example.com' }
  const file = Buffer.from(JSON.stringify([...changed, added]))
  const { body } = await person.upload(IMPORT, {}, file)
  const done = await confirm(person, body)
  assert.match(textOf(done.body), /Import finished: 1 new, 150 changed\. The API now returns/)
  assert.match(textOf(done.body), / 2 others left its answer\./)
  assert.notEqual((await person.get('/dashboard/servers/export.csv')).body, before.body)

  const [, change = ''] = /undo"><button name="change" value="([^"]*)">/.exec(done.body) ?? []
  const undone = await person.submit('/dashboard/servers/undo', { change })
  assert.match(textOf(undone.body), /The import of 151 servers was undone\./)
  assert.equal((await person.get('/dashboard/servers/export.csv')).body, before.body)
  const again = await person.submit('/dashboard/servers/undo', { change })
  assert.match(textOf(again.body), /The import of 151 servers was undone\./)
  assert.equal((await person.get('/dashboard/servers/export.csv')).body, before.body)
})

test('a CSV file is imported, and an export imported again changes nothing', async (t) => {
  const { person, store, userId } = await withServers(t)
  const organization = await recordsOf(store).ensureOrganization(
    'guild',
    userId,
    operatorAt(presentInstant()),
  )
  await recordsOf(store).saveServers(
    userId,
    organization,
    [{ name: 'ours', address: 'o.example' }],
    operatorAt(1),
  )
  const sent = await person.upload(IMPORT, { text: ' ' }, Buffer.from(CSV))
  await confirm(person, sent.body)
  const saved = await recordsOf(store).listServers(userId)
  assert.ok(saved.some(({ name, version }) => name === 'Tide, "low"' && version === null))
  for (const format of ['csv', 'json']) {
    const file = await person.get(`/dashboard/servers/export.${format}`)
    assert.equal(file.headers['content-disposition'], `attachment; filename="servers.${format}"`)
    assert.doesNotMatch(file.body, /ours/)
    const { body } = await person.upload(IMPORT, {}, Buffer.from(file.body))
    assert.match(body, /0 new, 0 changed, 4 unchanged\..*There is nothing to import/s)
  }
  assert.deepEqual(await recordsOf(store).listServers(userId), saved)
})

test('a wrong row is named, the rest is counted, and the pasted text stays', async (t) => {
  const { person, store, userId } = await withServers(t)
  const text = `${CSV}<b>,no address\r\nnumber 1,s0.example.com,2\r\n`
  const { status, body } = await person.upload(IMPORT, { text, form: 'f' })
  assert.equal(status, 422)
  assert.match(body, /<title>Error: /)
  assert.match(body, /<p>2 new, 1 changed, 1 wrong:<\/p>/)
  assert.match(body, /<li>row 4: <bdi>&quot;address&quot; must be a domain/)
  assert.match(body, /Nothing was imported\./)
  assert.ok(body.includes('&lt;b&gt;,no address'), body)
  assert.match(body, /name="form" value="f"/)
  assert.equal((await recordsOf(store).listServers(userId)).length, 2)
})

test('reading ends at a hundred mistakes, and the page says where', async (t) => {
  const { person, store, userId } = await withServers(t)
  const text = `[${Array<string>(300).fill('{}').join(',')}]`
  const { status, body } = await person.upload(IMPORT, { text })
  assert.equal(status, 422)
  assert.match(
    textOf(body),
    /Many servers are wrong\. Reading ended at entry 50, after 100 mistakes:\s+entry 1: "name" is missing/,
  )
  assert.equal(body.match(/<li>entry /g)?.length, 20)
  assert.match(textOf(body), /and 80 more\s*Nothing was imported\./)
  assert.equal((await recordsOf(store).listServers(userId)).length, 2)
})

test('each file that is no list of servers is refused with its reason', async (t) => {
  const { person, store, userId } = await withServers(t)
  for (const [file, reason] of [
    [Buffer.from('\uFEFFname,address', 'utf16le'), 'The file is UTF-16 text. Save it as UTF-8'],
    [Buffer.from('name,address\nMüller,m.example', 'latin1'), 'The file is not UTF-8 text.'],
    [Buffer.from('PK\u0003\u0004...'), 'The file is a spreadsheet or a ZIP file.'],
    [Buffer.from('\u0089PNG\r\n\u0000'), 'The file is not a text file.'],
    [Buffer.from('name,address', 'utf16le'), 'The file is UTF-16 text.'],
    [Buffer.from('<!doctype html><title>name, address</title>'), 'is neither JSON nor CSV.'],
    [Buffer.from('motd=Hello'), 'The file is neither JSON nor CSV.'],
    [Buffer.from('[{"uuid":"1","name":"Ada"}]'), 'The import ignores "uuid".'],
    [Buffer.from('name,address\n'), 'The file has no servers.'],
    [Buffer.from(listOf(501)), 'The file has 501 servers, more than the limit of 500.'],
  ] as const) {
    const { status, body } = await person.upload(IMPORT, {}, Buffer.from(file))
    assert.equal(status, 422, reason)
    assert.ok(textOf(body).includes(reason), `${reason}: ${textOf(body)}`)
    assert.ok(textOf(body).includes('Nothing was imported.'))
  }
  const both = await person.upload(IMPORT, { text: CSV }, Buffer.from(CSV))
  assert.match(both.body, /Paste servers or choose a file, but not both\./)
  assert.match((await person.upload(IMPORT, {})).body, /Paste servers or choose a file\./)
  const full = await person.upload(IMPORT, { text: listOf(499) })
  assert.match(full.body, /Nothing was imported\. You would have more than 500 servers/)
  assert.equal((await recordsOf(store).listServers(userId)).length, 2)
})

test('a file of 10 MB is read to its end and refused, and another form is not accepted', async (t) => {
  const { person, faults } = await withServers(t)
  const long = await person.upload(IMPORT, { form: 'f' }, Buffer.alloc(10_000_000, 'a'))
  assert.equal(long.status, 413)
  assert.match(
    textOf(long.body),
    /This is more than 1 MB, the limit of an import\. Nothing was imported\./,
  )
  assert.equal((await person.post(IMPORT, { text: CSV })).status, 415)
  const headers = {
    'Content-Type': 'multipart/form-data; boundary=x',
    'Sec-Fetch-Site': 'same-origin',
  }
  assert.equal((await person.post(IMPORT, {}, headers)).status, 400)
  const foreign = { ...headers, 'Sec-Fetch-Site': 'cross-site' }
  assert.equal((await person.post(IMPORT, {}, foreign)).status, 403)
  assert.deepEqual(faults, [])
})

const fieldsOf = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`f${at}`, '']))

test('a form of many more fields than the page has is refused before it is read', async (t) => {
  const { person } = await withServers(t)
  // The file is one more part.
  assert.equal((await person.upload(IMPORT, fieldsOf(10), Buffer.from(CSV))).status, 400)
  assert.equal((await person.upload(IMPORT, fieldsOf(9), Buffer.from(CSV))).status, 200)
})

test('a file that its check could not send again is refused before', async (t) => {
  const { person, store, userId } = await withServers(t)
  // A browser sends each line end as two characters.
  const long = await person.upload(IMPORT, {}, lines(500_000))
  assert.equal(long.status, 413)
  const { status, body } = await person.upload(IMPORT, {}, lines(499_000))
  assert.equal(status, 200)
  const { text, ...others } = confirmationOf(body)
  const sent = await person.upload(IMPORT, { ...others, text: text.replaceAll('\n', '\r\n') })
  assert.equal(sent.status, 303, sent.body)
  assert.equal((await recordsOf(store).listServers(userId)).length, 3)
})

test('if another tab changes a server, the check is shown anew and nothing is imported', async (t) => {
  const { person, store, userId } = await withServers(t)
  const entry = { name: 'number 1', address: 's0.example.com', version: '2' }
  const { body } = await person.upload(IMPORT, { text: JSON.stringify([entry]), form: 'f' })
  await recordsOf(store).saveServers(
    userId,
    null,
    [{ ...entry, version: 'other tab' }],
    operatorAt(presentInstant()),
  )
  const refused = await person.upload(IMPORT, confirmationOf(body))
  assert.equal(refused.status, 409)
  assert.match(refused.body, /Your servers have changed since this check\. Nothing was imported\./)
  const versions = async () =>
    (await recordsOf(store).listServers(userId)).map(({ version }) => version)
  assert.ok((await versions()).includes('other tab'))
  await confirm(person, refused.body)
  assert.ok((await versions()).includes('2'))
})

test('an import whose check another person could send is planned for the one who sends it', async (t) => {
  const { person, store, userId, signedIn } = await withServers(t)
  const entry = { name: 'number 1', address: 's0.example.com', version: '2' }
  const { body } = await person.upload(IMPORT, { text: JSON.stringify([entry]) })
  const other = await signedIn('bob@example.com')
  const sent = await other.person.upload(IMPORT, confirmationOf(body))
  assert.equal(sent.status, 409)
  assert.match(textOf(sent.body), /1 new, 0 changed, 0 unchanged\./)
  assert.equal((await recordsOf(store).listServers(userId))[0]!.version, null)
})

const lines = (count: number) =>
  Buffer.from(`[{"name":"new","address":"new.example"}]${'\n'.repeat(count)}`)

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

function listOf(length: number): string {
  return JSON.stringify(Array.from({ length }, (_, index) => ({ name: 'a', address: `s${index}` })))
}

function textOf(body: string): string {
  return body.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"')
}
