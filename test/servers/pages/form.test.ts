import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * What the form of a server shows, and what a save says.
 */

const NEW = '/dashboard/servers/new'

test('a new server needs a name and an address, and gets the other values by itself', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const { body } = await person.get(NEW)
  const [before = '', more = ''] = body.split('<details><summary>More ')
  assert.match(before, /id="name"[^>]* autofocus/)
  assert.deepEqual(idsIn(before.slice(before.indexOf('<form class="card"'))), ['name', 'address'])
  assert.deepEqual(idsIn(more), ['slug', 'edition', 'version', 'listing_kind', 'status'])
  assert.match(
    body,
    /<p class="hint">The API returns the server to your keys at once, also as a draft\.</,
  )
  const fields = { name: 'Lagoon', address: 'a.example', edition: 'java', status: 'published' }
  assert.match((await person.submit(NEW, { ...fields, form: 'f' })).body, /was added\./)
  const [stored] = await recordsOf(store).listServers(user.id)
  assert.deepEqual([stored!.slug, stored!.status], ['lagoon', 'published'])
})

test('“More” is open if one of its fields has an error or another value than by itself', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const send = async (fields: object) =>
    (await person.post(NEW, { ...ENTRY, form: 'x', ...fields })).body
  assert.equal(isOpen(await send({ name: '' })), false)
  assert.equal(isOpen(await send({ address: 'a b', slug: 'survival' })), false)
  for (const fields of [
    { slug: 'a b' },
    { edition: 'JAVA' },
    { name: '', slug: 'mine' },
    { name: '', edition: 'bedrock' },
    { name: '', status: 'draft' },
    { name: '', version: '1.21' },
    { name: '', listing_kind: 'realm' },
  ])
    assert.ok(isOpen(await send(fields)), JSON.stringify(fields))

  await person.post(NEW, { ...ENTRY, form: 'a' })
  await person.post(NEW, { ...ENTRY, form: 'b' })
  for (const { id, slug } of await recordsOf(store).listServers(user.id)) {
    const path = `/dashboard/servers/${id}`
    assert.equal(isOpen((await person.get(path)).body), false, `suggested: ${slug}`)
    await person.post(path, { ...ENTRY, slug: `own-${slug}`, status: 'draft' })
    assert.ok(isOpen((await person.get(path)).body))
    const stale = await person.post(path, { ...ENTRY, seen: 'older' })
    assert.ok(stale.status === 409 && isOpen(stale.body))
  }
})

test('the form asks for the owner only if there is an organization', async (t) => {
  const { signedIn, store } = await startDashboard(t, { siteUrl: 'https://example.com' })
  const { person, user } = await signedIn()
  const made = { id: crypto.randomUUID(), slug: 'guild', name: 'Guild' }
  assert.doesNotMatch((await person.get(NEW)).body, /organization_id/)
  await recordsOf(store).insertOrganization(user.id, made, operatorAt(presentInstant()))
  const { body } = await person.get(NEW)
  assert.match(body, /<select id="organization_id"/)
  assert.match(
    body,
    />The API returns the server to your keys at once, also as a draft, unless an organization owns it\. If it is published, everyone can see its public page\.</,
  )
})

test('an error stands in the place of the hint', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.post(NEW, { ...ENTRY, form: 'x', address: 'a b' })
  assert.match(
    body,
    /<input id="address"[^>]* aria-invalid="true" aria-describedby="address-error"/,
  )
  assert.equal(body.split('id="address-error"').length, 2)
  assert.doesNotMatch(body, /id="address-hint"/)
  assert.match(body, /id="slug-hint"/)
})

test('a save says what has entered or left the answer of the API', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const guild = { id: crypto.randomUUID(), slug: 'guild', name: 'Guild' }
  await recordsOf(store).insertOrganization(user.id, guild, operatorAt(presentInstant()))
  const under = { organization_id: guild.id }
  const save = async (path: string, fields: object) =>
    (await person.submit(path, { ...ENTRY, slug: '', form: 'f', ...fields })).body.replace(
      /<[^>]*>/g,
      '',
    )
  assert.match(await save(NEW, {}), /was added\. The API now returns it\./)
  const [server] = await recordsOf(store).listServers(user.id)
  const path = `/dashboard/servers/${server!.id}`
  assert.match(await save(path, { version: '1' }), /was saved\./)
  assert.match(await save(path, under), /was moved to Guild\. The API no longer returns it\./)
  assert.match(await save(path, { ...under, version: '2' }), /was saved\./)
  assert.match(await save(path, {}), /is a personal server now\. The API now returns it\./)
  const shared = await save(NEW, { ...under, form: 'g' })
  assert.match(shared, /was added to this organization\. The API never returns it\./)
})

function idsIn(html: string): string[] {
  return [...html.matchAll(/<(?:input|select) id="([^"]+)"/g)].map(([, id]) => id!)
}

function isOpen(body: string): boolean {
  return body.includes('<details open><summary>More ')
}
