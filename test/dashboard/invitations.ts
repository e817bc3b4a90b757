import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INVITATION_KEPT, MEMBERS_MAX } from '../../src/listing/invitation.ts'
import { ORGANIZATIONS_MAX } from '../../src/listing/organization.ts'
import { type OpenDatabase, startDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'

const BOB = 'bob@example.com'

/** Nobody becomes a member who did not say yes; and nobody learns by asking who has an account. */
export function invitationPages(open: OpenDatabase): void {
  test('who is invited is no member before they accept, and sees the servers afterwards', async (t) => {
    const { signedIn, faults } = await startDashboard(t, open)
    const { person: ada } = await signedIn('ada@example.com')
    const { person: bob } = await signedIn(BOB)
    const path = await makeOrganization(ada, 'guild')
    const organization_id = path.split('/').at(-1)!
    const entry = { name: 'Survival', address: 'a.example', edition: 'java', status: 'published' }
    await ada.submit('/dashboard/servers/new', { ...entry, form: 'f', organization_id })

    const sent = await ada.submit(`${path}/members`, { email: 'BOB@example.com' })
    assert.match(sent.body, /No mail is sent/)
    assert.match(sent.body, /<bdi>bob@example\.com<\/bdi> <span class="state">invited</)
    assert.equal((await bob.get(path)).status, 404)
    const put = await bob.post('/dashboard/servers/new', { ...entry, form: 'f', organization_id })
    assert.match(put.body, /id="organization_id-error">You are no member/)
    for (const page of ['/dashboard/api', '/dashboard/servers'])
      assert.match((await bob.get(page)).body, /<bdi>guild<\/bdi> invited you/)
    assert.match((await bob.get('/dashboard/organizations')).body, /by <bdi>ada@example\.com</)

    const joined = await bob.submit(`${path}/accept`)
    assert.match(joined.body, /You are a member now/)
    assert.match(joined.body, /<bdi>Survival<\/bdi>/)
    assert.doesNotMatch(joined.body, /Invite somebody|To draft|Remove</)
    const server = /\/dashboard\/servers\/[0-9a-f-]{36}/.exec(joined.body)?.[0] ?? ''
    const seen = (await bob.get(server)).body
    assert.match(seen, /<dd><bdi>Survival<\/bdi>/)
    assert.doesNotMatch(seen, /<form class="card"/)
    assert.doesNotMatch((await ada.get(path)).body, />invited</)
    assert.equal((await bob.post(`${path}/accept`)).status, 404)
    assert.match((await ada.post(`${path}/members`, { email: BOB })).body, /a member already/)
    assert.deepEqual(faults, [])
  })

  test('a declined or withdrawn invitation is gone; so is one after fourteen days', async (t) => {
    const { signedIn, store, elapse } = await startDashboard(t, open)
    const { person: ada, user } = await signedIn('ada@example.com')
    const { person: bob } = await signedIn(BOB)
    const path = await makeOrganization(ada, 'guild')
    await ada.submit(`${path}/members`, { email: BOB })
    assert.match((await bob.submit(`${path}/decline`)).body, /The invitation is declined/)
    assert.equal((await bob.post(`${path}/accept`)).status, 404)

    await ada.submit(`${path}/members`, { email: BOB })
    const [sent] = await store.listInvited(user.id, path.split('/').at(-1)!, 0)
    const fields = { invited: sent!.id }
    assert.ok((await ada.get(path)).body.includes(`name="invited" value="${sent!.id}"`))
    assert.equal((await bob.post(`${path}/members/withdraw`, fields)).status, 404)
    await ada.submit(`${path}/members/withdraw`, fields)
    assert.equal((await bob.post(`${path}/accept`)).status, 404)

    await ada.submit(`${path}/members`, { email: BOB })
    // The sessions would end before; they are younger than the invitation by the store's clock.
    elapse(INVITATION_KEPT / 1_000 + 60_000)
    assert.doesNotMatch((await bob.get('/dashboard/organizations')).body, /guild/)
    assert.equal((await bob.post(`${path}/accept`)).status, 404)
    assert.doesNotMatch((await ada.get(path)).body, /bob@example/)
    assert.equal((await store.listMembers(user.id, path.split('/').at(-1)!)).length, 1)
  })

  test('an address with an account and one without are answered alike, and asked for so many times only', async (t) => {
    const { signedIn, visitor } = await startDashboard(t, open)
    const { person: ada } = await signedIn('ada@example.com')
    await signedIn(BOB)
    const path = await makeOrganization(ada, 'guild')
    const known = await ada.post(`${path}/members`, { email: BOB })
    const unknown = await ada.post(`${path}/members`, { email: 'new@example.com' })
    assert.deepEqual([known.status, known.headers.location], [303, unknown.headers.location])
    assert.match((await ada.get(path)).body, /new@example\.com.*invited/)
    assert.match((await ada.post(`${path}/members`, { email: 'x' })).body, /id="email-error">An e-/)

    const late = visitor()
    await late.submit('/sign-up', { email: 'new@example.com', password: 'a long enough password' })
    assert.match((await late.get('/dashboard/api')).body, /<bdi>guild<\/bdi> invited you/)
    for (let sent = 3; sent < 20; sent += 1)
      await ada.post(`${path}/members`, { email: 'one@example.com' })
    const { body } = await ada.post(`${path}/members`, { email: 'two@example.com' })
    assert.match(body, /That was done too often\. Try again in 15 minutes\./)
  })

  test('an organization has so many members and invitations, and a user so many organizations', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person: ada, user } = await signedIn('ada@example.com')
    const { user: bob } = await signedIn(BOB)
    const id = (await makeOrganization(ada, 'guild')).split('/').at(-1)!
    for (let number = 1; number < MEMBERS_MAX; number += 1)
      assert.equal(await store.invite(user.id, id, `u${number}@example.com`, 0, 1), 'invited')
    assert.equal(await store.invite(user.id, id, BOB, 0, 1), 'full')
    assert.equal(await store.invite(user.id, id, 'u1@example.com', 0, 2), 'invited')
    const [first] = await store.listInvited(user.id, id, 0)
    assert.ok(await store.withdrawInvitation(user.id, id, first!.id))
    assert.equal(await store.invite(user.id, id, BOB, 0, 1), 'invited')

    for (let number = 0; number < ORGANIZATIONS_MAX; number += 1) {
      const made = { id: crypto.randomUUID(), slug: `o${number}`, name: 'o' }
      assert.equal(await store.insertOrganization(bob.id, made, 1), 'made')
    }
    const more = { id: crypto.randomUUID(), slug: 'more', name: 'more' }
    assert.equal(await store.insertOrganization(bob.id, more, 1), 'too many')
    assert.equal(await store.acceptInvitation(bob.id, id, 0, 1), 'too many')
    assert.equal((await store.listInvitations(bob.id, 0)).length, 1)
  })
}

async function makeOrganization(person: Person, slug: string): Promise<string> {
  const made = await person.post('/dashboard/organizations', { name: slug, slug })
  return String(made.headers.location).replace(/\?.*$/, '')
}
