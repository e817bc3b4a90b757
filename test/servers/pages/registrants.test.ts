import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { addOrganization, join, register } from '../../contract/people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

test('an organization’s list and the page of a server say which member registered it', async (t) => {
  const { store, signedIn } = await startDashboard(t)
  const [ada, bob] = [await signedIn(), await signedIn('bob@example.com')]
  const now = presentInstant()
  const organization_id = await addOrganization(store, ada.user, {}, now)
  await join(store, organization_id, ada.user, bob.user, now)
  await register(store, ada.user, { name: 'of ada', organization_id }, now - 1)
  const ofBob = await register(store, bob.user, { name: 'of bob', organization_id }, now - 2)
  const list = `/dashboard/organizations/${organization_id}`
  const textOf = async (path: string) =>
    (await ada.person.get(path)).body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  assert.match(await textOf(list), /of bob by bob@example\.com play\.example\.com /)
  assert.match(await textOf(list), /of ada play\.example\.com .* Unpublish of bob/)
  const page = `/dashboard/servers/${ofBob}`
  assert.match(await textOf(page), /Another member’s server .* Registered by bob@example\.com/)
  const { removeMember } = recordsOf(store)
  await removeMember(ada.user.id, organization_id, bob.user.id, operatorAt(now))
  assert.match(await textOf(list), /of bob by a former member play\.example\.com /)
  assert.match(await textOf(page), /Registered by a former member/)
  assert.doesNotMatch((await textOf(list)) + (await textOf(page)), /bob@/)
})

test('where the site manages the servers, each row says who registered it', async (t) => {
  const site = { siteUrl: 'https://example.com', serversElsewhere: true }
  const { store, signedIn } = await startDashboard(t, site)
  const { person, user } = await signedIn()
  const organization_id = await addOrganization(store, user, {}, presentInstant())
  await register(store, user, { organization_id }, presentInstant())
  const { body } = await person.get(`/dashboard/organizations/${organization_id}`)
  assert.match(body, />by you</)
})
