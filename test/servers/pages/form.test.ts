import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * What the form of a server shows.
 */

const NEW = '/dashboard/servers/new'

test('the form of a new server shows the name and the address, and the rest below “More”', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.get(NEW)
  const [before = '', more = ''] = body.split('<details><summary>More ')
  assert.match(before, /id="name"[^>]* autofocus/)
  assert.deepEqual(idsIn(before.slice(before.indexOf('<form class="card"'))), ['name', 'address'])
  assert.deepEqual(idsIn(more), ['slug', 'edition', 'version', 'listing_kind', 'status'])
  assert.match(
    body,
    /<p class="hint">The API returns the server to your keys at once, also as a draft\.</,
  )
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
  await person.post(NEW, { ...ENTRY, form: 'a', slug: 'taken' })
  for (const fields of [{ name: '' }, { slug: 'taken' }, { organization_id: 'x' }]) {
    const [field] = Object.keys(fields)
    const refused = await person.post(NEW, { ...ENTRY, form: 'b', ...fields })
    assert.ok(refused.body.includes(`id="${field}-error"`), field)
  }
})

function idsIn(html: string): string[] {
  return [...html.matchAll(/<(?:input|select) id="([^"]+)"/g)].map(([, id]) => id!)
}

function isOpen(body: string): boolean {
  return body.includes('<details open><summary>More ')
}
