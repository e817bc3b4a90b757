import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INVITATION_KEPT_US, MEMBERS_MAX } from '../../../src/organizations/invitation.ts'
import { ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Users become members only by accepting, and an invitation does not reveal whether an address has
 * an account.
 */

const BOB = 'bob@example.com'

test('an invited user becomes a member and sees the servers only after accepting', async (t) => {
  const { signedIn, faults } = await startDashboard(t)
  const { person: ada } = await signedIn('ada@example.com')
  const { person: bob } = await signedIn(BOB)
  const path = await makeOrganization(ada, 'guild')
  const organization_id = path.split('/').at(-1)!
  const entry = { name: 'Survival', address: 'a.example', edition: 'java', status: 'published' }
  await ada.submit('/dashboard/servers/new', { ...entry, form: 'f', organization_id })

  const sent = await ada.submit(`${path}/members`, { email: 'BOB@example.com' })
  assert.match(sent.body, /Invitation created\. We don’t send email/)
  assert.match(sent.body, /<bdi>bob@example\.com<\/bdi> <span class=pill>invited</)
  assert.equal((await bob.get(path)).status, 404)
  const put = await bob.post('/dashboard/servers/new', { ...entry, form: 'f', organization_id })
  assert.match(put.body, /id="organization_id-error">You are not a member/)
  for (const page of ['/dashboard/api', '/dashboard/servers'])
    assert.match((await bob.get(page)).body, /<bdi>guild<\/bdi> invited you/)
  assert.match((await bob.get('/dashboard/organizations')).body, /by <bdi>ada@example\.com</)

  const joined = await bob.submit(`${path}/accept`)
  assert.match(joined.body, /You joined <b><bdi>/)
  assert.match(joined.body, />Survival<\/a>/)
  assert.doesNotMatch(joined.body, /Invite a member|Unpublish|Remove</)
  const server = /\.\.\/(servers\/[0-9a-f-]{36})/.exec(joined.body)?.[1] ?? ''
  const seen = (await bob.get(`/dashboard/${server}`)).body
  assert.match(seen, /<dd><bdi>Survival<\/bdi>/)
  assert.doesNotMatch(seen, /<main.*<form/s)
  assert.doesNotMatch((await ada.get(path)).body, />invited</)
  assert.equal((await bob.post(`${path}/accept`)).status, 303)
  assert.match((await ada.post(`${path}/members`, { email: BOB })).body, /already a member/)
  assert.deepEqual(faults, [])
})

test('a declined, withdrawn or 14-day-old invitation is gone', async (t) => {
  const { signedIn, store, elapse } = await startDashboard(t)
  const { person: ada, user } = await signedIn('ada@example.com')
  const { person: bob } = await signedIn(BOB)
  const path = await makeOrganization(ada, 'guild')
  await ada.submit(`${path}/members`, { email: BOB })
  assert.match((await bob.submit(`${path}/decline`)).body, /Invitation declined\./)
  assert.equal((await bob.post(`${path}/accept`)).status, 404)

  await ada.submit(`${path}/members`, { email: BOB })
  const [sent] = await recordsOf(store).listInvited(user.id, path.split('/').at(-1)!, 0)
  const withdraw = `members/${sent!.id}/withdraw`
  assert.ok((await ada.get(`${path}/members`)).body.includes(`href="${withdraw}"`))
  assert.equal((await bob.post(`${path}/${withdraw}`)).status, 404)
  await ada.submit(`${path}/${withdraw}`)
  assert.equal((await bob.post(`${path}/accept`)).status, 404)

  await ada.submit(`${path}/members`, { email: BOB })
  elapse(INVITATION_KEPT_US / 1_000 + 60_000)
  // The sessions have expired by now, the invitation has not.
  for (const [person, email] of [
    [ada, 'ada@example.com'],
    [bob, BOB],
  ] as const)
    await person.signIn(email, PASSWORD)
  assert.doesNotMatch((await bob.get('/dashboard/organizations')).body, /guild/)
  assert.equal((await bob.post(`${path}/accept`)).status, 404)
  assert.doesNotMatch((await ada.get(`${path}/members`)).body, /bob@example/)
  assert.equal((await recordsOf(store).listMembers(user.id, path.split('/').at(-1)!)).length, 1)
})

test('inviting an address gets the same answer with or without an account, at most 20 times', async (t) => {
  const { signedIn, visitor } = await startDashboard(t)
  const { person: ada } = await signedIn('ada@example.com')
  await signedIn(BOB)
  const path = await makeOrganization(ada, 'guild')
  const known = await ada.post(`${path}/members`, { email: BOB })
  const unknown = await ada.post(`${path}/members`, { email: 'new@example.com' })
  assert.deepEqual([known.status, known.headers.location], [303, unknown.headers.location])
  assert.match((await ada.get(`${path}/members`)).body, /new@example\.com.*invited/)
  assert.match(
    (await ada.post(`${path}/members`, { email: 'x' })).body,
    /id="email-error">An email/,
  )

  const late = visitor()
  await late.submit('/sign-up', { email: 'new@example.com', password: 'a long enough password' })
  assert.match((await late.get('/dashboard/api')).body, /<bdi>guild<\/bdi> invited you/)
  for (let sent = 3; sent < 20; sent += 1)
    await ada.post(`${path}/members`, { email: 'one@example.com' })
  const { status, body } = await ada.post(`${path}/members`, { email: 'two@example.com' })
  assert.equal(status, 429)
  assert.match(body, /Too many attempts\. Try again in 15 minutes\./)
})

test('an organization has at most 50 members and invitations, and a user at most 20 organizations', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person: ada, user } = await signedIn('ada@example.com')
  const { user: bob } = await signedIn(BOB)
  const id = (await makeOrganization(ada, 'guild')).split('/').at(-1)!
  for (let number = 1; number < MEMBERS_MAX; number += 1)
    assert.equal(
      await recordsOf(store).invite(user.id, id, `u${number}@example.com`, 0, operatorAt(1)),
      'invited',
    )
  assert.equal(await recordsOf(store).invite(user.id, id, BOB, 0, operatorAt(1)), 'full')
  assert.equal(
    await recordsOf(store).invite(user.id, id, 'u1@example.com', 0, operatorAt(2)),
    'invited',
  )
  const [first] = await recordsOf(store).listInvited(user.id, id, 0)
  assert.ok(
    await recordsOf(store).withdrawInvitation(user.id, id, first!.id, operatorAt(presentInstant())),
  )
  assert.equal(await recordsOf(store).invite(user.id, id, BOB, 0, operatorAt(1)), 'invited')

  for (let number = 0; number < ORGANIZATIONS_MAX; number += 1) {
    const made = { id: crypto.randomUUID(), slug: `o${number}`, name: 'o' }
    assert.equal(await recordsOf(store).insertOrganization(bob.id, made, operatorAt(1)), 'made')
  }
  const more = { id: crypto.randomUUID(), slug: 'more', name: 'more' }
  assert.equal(await recordsOf(store).insertOrganization(bob.id, more, operatorAt(1)), 'too many')
  assert.equal(await recordsOf(store).acceptInvitation(bob.id, id, 0, operatorAt(1)), 'too many')
  assert.equal((await recordsOf(store).listInvitations(bob.id, 0)).length, 1)
})

async function makeOrganization(person: Person, slug: string): Promise<string> {
  const made = await person.post('/dashboard/organizations', { name: slug, slug })
  return String(made.headers.location).replace(/\?.*$/, '')
}
