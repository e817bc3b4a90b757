import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { addOrganization, register } from '../../contract/people.ts'

test('where the site manages the servers, each row says who registered it', async (t) => {
  const site = { siteUrl: 'https://example.com', serversElsewhere: true }
  const { store, signedIn } = await startDashboard(t, site)
  const { person, user } = await signedIn()
  const organization_id = await addOrganization(store, user, {}, presentInstant())
  await register(store, user, { organization_id }, presentInstant())
  const { body } = await person.get(`/dashboard/organizations/${organization_id}`)
  assert.match(body, />by you</)
})
