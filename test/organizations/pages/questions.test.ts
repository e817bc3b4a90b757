import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { readForms } from '../../dashboard/forms/read-forms.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Leaving, removing a member, deleting an organization, declining and withdrawing ask first.
 */

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
    [1, 2, 1, 1],
  )
})

/** Ada's organization: Bob is a member, and Dan is invited. */
async function openGuild(t: TestContext) {
  const { signedIn, store } = await startDashboard(t)
  const { person: ada, user } = await signedIn('ada@example.com')
  const { person: bob, user: member } = await signedIn('bob@example.com')
  const { person: dan } = await signedIn('dan@example.com')
  const made = await ada.post('/dashboard/organizations', { name: 'Guild', slug: 'guild' })
  const path = String(made.headers.location)
  const id = path.split('/').at(-1)!
  const now = operatorAt(presentInstant())
  const { invite, acceptInvitation } = recordsOf(store)
  await invite(user.id, id, member.email, 0, now)
  await acceptInvitation(member.id, id, 0, now)
  await invite(user.id, id, 'dan@example.com', 0, now)
  return { ada, bob, dan, path }
}
