import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestDashboard, startDashboard } from '../../fixtures/dashboard.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Organizations: their members see their servers, and the API never returns them.
 */

test('an import into an organization makes the user a member', async (t) => {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const id = await recordsOf(dashboard.store).ensureOrganization(
    'imported',
    user.id,
    operatorAt(presentInstant()),
  )
  assert.match((await person.get(`/dashboard/organizations/${id}/members`)).body, /Add a member/)
  assert.equal(await roleOfSecond(dashboard, id), 'member')
})

async function roleOfSecond({ signedIn, store }: TestDashboard, id: string) {
  const { user } = await signedIn('bob@example.com')
  await recordsOf(store).ensureOrganization('imported', user.id, operatorAt(presentInstant()))
  const members = await recordsOf(store).listMembers(user.id, id)
  return members.find(({ user_id }) => user_id === user.id)?.role
}
