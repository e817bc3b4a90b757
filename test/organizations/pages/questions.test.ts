import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { readForms } from '../../dashboard/forms/read-forms.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Leaving, removing a member, deleting an organization, declining and withdrawing ask first.
 */

test('the page that asks a member to leave says what the organization keeps', async (t) => {
  const { bob, path, bobId } = await openGuild(t)
  const { body } = await bob.get(`${path}/members/${bobId}/remove`)
  assert.match(body, /<strong>Leave <bdi>Guild<\/bdi>\?<\/strong>/)
  assert.match(body, /To come back, you need a new invitation\./)
  assert.match(body, /The organization keeps 1 server that you registered there\./)
  assert.match(body, /The API returns none of its servers\. An owner can later return yours/)
  const left = await bob.submit(`${path}/members/${bobId}/remove`)
  assert.match(left.body, /You left the organization\./)
})

test('the page that asks an owner to remove a member names the member and counts the servers', async (t) => {
  const { ada, path, bobId, members } = await openGuild(t)
  const { body } = await ada.get(`${path}/members/${bobId}/remove`)
  assert.match(body, /Remove <bdi>bob@example\.com<\/bdi> from <bdi>Guild<\/bdi>\?/)
  assert.match(body, /The organization keeps 1 server that they registered here\./)
  assert.equal(await members(), 2)
  await ada.submit(`${path}/members/${bobId}/remove`)
  assert.equal(await members(), 1)
  const again = await ada.get(`${path}/members/${bobId}/remove`)
  assert.equal(again.status, 404)
  assert.match(again.body, /This person is no longer a member, or you can’t remove them\./)
})

test('no page asks about the last owner, and a member can’t be asked about another member', async (t) => {
  const { ada, bob, path, adaId } = await openGuild(t)
  for (const person of [ada, bob])
    assert.equal((await person.get(`${path}/members/${adaId}/remove`)).status, 404)
})

test('the page that asks to delete an organization counts who loses it', async (t) => {
  const { ada, bob, path, server } = await openGuild(t)
  const refused = await ada.get(`${path}/remove`)
  assert.equal(refused.status, 404)
  assert.match(refused.body, /An organization with servers can’t be deleted either\./)
  await bob.submit('/dashboard/servers/change', { rows: server, to: 'deleted for sure' })
  const { body } = await ada.get(`${path}/remove`)
  assert.match(body, /Delete <bdi>Guild<\/bdi>\?/)
  assert.match(body, /1 other member can no longer open it\./)
  assert.match(body, /1 open invitation will end\./)
  assert.match(body, /The API returns the same as before\. You can’t undo this\./)
  assert.equal((await bob.get(`${path}/remove`)).status, 404)
  assert.match((await ada.submit(`${path}/remove`)).body, /Organization deleted\./)
})

test('declining and withdrawing ask, and a question about a closed invitation says so', async (t) => {
  const { ada, dan, path, invitation } = await openGuild(t)
  const decline = await dan.get(`${path}/decline`)
  assert.match(decline.body, /Decline the invitation to <bdi>Guild<\/bdi>\?/)
  assert.match(decline.body, /<bdi>ada@example\.com<\/bdi> invited you\./)
  const withdraw = await ada.get(`${path}/members/${invitation}/withdraw`)
  assert.match(withdraw.body, /Withdraw the invitation of <bdi>dan@example\.com<\/bdi> to/)
  assert.match((await dan.submit(`${path}/decline`)).body, /Invitation declined\./)
  for (const gone of [
    await dan.get(`${path}/decline`),
    await ada.get(`${path}/members/${invitation}/withdraw`),
    await ada.post(`${path}/members/${invitation}/withdraw`),
  ]) {
    assert.equal(gone.status, 404)
    assert.match(gone.body, /This invitation is no longer open\./)
  }
})

test('no list has a button for what these pages ask', async (t) => {
  const { ada, bob, dan, path } = await openGuild(t)
  const lists = [
    await ada.get(path),
    await ada.get(`${path}/members`),
    await bob.get(`${path}/members`),
    await dan.get('/dashboard/organizations'),
  ]
  const posts = lists.flatMap(({ body }) => readForms(body).map((form) => form.path))
  assert.ok(posts.includes(`${path}/accept`))
  for (const post of posts) assert.doesNotMatch(post, /\/(remove|withdraw|decline)$/)
  const links = lists.map(({ body }) => body.match(/href="[^"]*\/(remove|withdraw|decline)"/g))
  assert.deepEqual(
    links.map((found) => found?.length ?? 0),
    [0, 2, 1, 1],
  )
})

/** Ada's organization: Bob is a member and registered a server in it, and Dan is invited. */
async function openGuild(t: TestContext) {
  const { signedIn, store } = await startDashboard(t)
  const { person: ada, user } = await signedIn('ada@example.com')
  const { person: bob, user: member } = await signedIn('bob@example.com')
  const { person: dan } = await signedIn('dan@example.com')
  const made = await ada.post('/dashboard/organizations', { name: 'Guild', slug: 'guild' })
  const path = String(made.headers.location)
  const id = path.split('/').at(-1)!
  const now = operatorAt(presentInstant())
  const { invite, acceptInvitation, listInvited } = recordsOf(store)
  await invite(user.id, id, member.email, 0, now)
  await acceptInvitation(member.id, id, 0, now)
  await invite(user.id, id, 'dan@example.com', 0, now)
  await bob.submit('/dashboard/servers/new', { ...ENTRY, form: 'f', organization_id: id })
  const server = /\.\.\/servers\/([0-9a-f-]{36})/.exec((await bob.get(path)).body)![1]!
  const [invited] = await listInvited(user.id, id, 0)
  const members = async () =>
    (await ada.get(`${path}/members`)).body.match(/<div id="m\d+"/g)?.length ?? 0
  return {
    ada,
    bob,
    dan,
    path,
    server,
    members,
    adaId: user.id,
    bobId: member.id,
    invitation: invited!.id,
  }
}
