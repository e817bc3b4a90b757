import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import { ask } from '../../fixtures/requests.ts'
import { readForms } from '../../dashboard/forms/read-forms.ts'

/*
 * An owner adds an account by its address. The answer reveals whether there is one.
 */

const BOB = 'bob@example.com'
const ENTRY = { name: 'Survival', address: 'a.example', edition: 'java', status: 'published' }

test('an added user sees the organization at once, can leave, and keeps every personal server', async (t) => {
  const { signedIn, apiPort, faults } = await startDashboard(t)
  const { person: ada } = await signedIn('ada@example.com')
  const { person: bob, user } = await signedIn(BOB)
  const path = await makeOrganization(ada)
  const organization_id = path.split('/').at(-1)!
  await ada.submit('/dashboard/servers/new', { ...ENTRY, form: 'f', organization_id })
  await bob.submit('/dashboard/servers/new', { ...ENTRY, name: 'Own', form: 'f' })
  const keys = [await bob.issue('1'), await bob.issue('2'), await bob.issue('3')]
  const listing = async () => (await ask(apiPort, { key: keys.pop()! })).body
  const before = await listing()
  assert.match(before, /"Own"/)
  assert.equal((await bob.get(path)).status, 404)

  const added = await ada.submit(`${path}/members`, { email: 'BOB@example.com' })
  assert.match(added.body, /This person is a member now/)
  assert.equal(await listing(), before)
  assert.match((await bob.get('/dashboard/organizations')).body, />guild<\/bdi>|<bdi>guild</)
  const seen = (await bob.get(path)).body
  assert.match(seen, />Survival<\/a>/)
  assert.doesNotMatch(seen, /Unpublish|Delete organization/)
  assert.doesNotMatch((await bob.get(`${path}/members`)).body, /Add a member|Remove…/)

  await bob.submit(`${path}/members/${user.id}/remove`)
  assert.equal((await bob.get(path)).status, 404)
  assert.equal(await listing(), before)
  assert.deepEqual(faults, [])
})

test('adding tells whether an account exists, in 20 attempts of a user in fifteen minutes', async (t) => {
  const { signedIn, elapse } = await startDashboard(t)
  const { person: ada } = await signedIn('ada@example.com')
  await signedIn(BOB)
  await signedIn('eve@example.com')
  const path = await makeOrganization(ada)
  const page = await ada.get(`${path}/members`)
  assert.match(page.body, /The answer tells whether an account has the address/)
  const add = (email: string) => ada.post(`${path}/members`, { email })
  for (let attempt = 1; attempt < 20; attempt += 1) {
    const { status, body } = await add(`u${attempt}@example.com`)
    assert.equal(status, 422)
    assert.match(body, /No active account has this address/)
  }
  assert.equal((await add(BOB)).status, 303)
  // Another organization has no attempts of its own.
  const { status, body } = await add('eve@example.com')
  assert.equal(status, 429)
  assert.match(body, /Too many attempts\. Try again in 15 minutes\./)
  assert.doesNotMatch((await ada.get(`${path}/members`)).body, /eve@example\.com/)
  elapse(15 * 60_000 + 1_000)
  assert.equal((await add('eve@example.com')).status, 303)
})

test('no list has a button for what a page asks first', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person: ada } = await signedIn('ada@example.com')
  const { person: bob } = await signedIn(BOB)
  const path = await makeOrganization(ada)
  await ada.submit(`${path}/members`, { email: BOB })
  const lists = [
    await ada.get(path),
    await ada.get(`${path}/members`),
    await bob.get(`${path}/members`),
    await bob.get('/dashboard/organizations'),
  ]
  const posts = lists.flatMap(({ body }) => readForms(body).map((form) => form.path))
  assert.ok(posts.includes(`${path}/members`))
  for (const post of posts) assert.doesNotMatch(post, /\/remove$/)
  const links = lists.map(({ body }) => body.match(/href="[^"]*\/remove"/g)?.length ?? 0)
  assert.deepEqual(links, [1, 1, 1, 0])
})

async function makeOrganization(person: Person): Promise<string> {
  const made = await person.post('/dashboard/organizations', { name: 'guild', slug: 'guild' })
  return String(made.headers.location)
}
