import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../../src/model/instant.ts'
import type { ServerFields } from '../../../../src/servers/server.ts'
import { startDashboard } from '../../../fixtures/dashboard.ts'
import { intercept } from '../../../dashboard/intercept.ts'
import { ask } from '../../../fixtures/requests.ts'
import { fields } from '../../../contract/people.ts'
import { register } from './publish.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/*
 * Which servers have no public page, and what an attacker gets.
 */

test('every other server, and any other text, gets the answer for a missing page', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const off = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const { user: owner } = await off.signedIn()
  const organization_id = await recordsOf(dashboard.store).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  const missing = await off.visitor().get('/nothing')
  assert.equal(missing.status, 404)
  const hidden = [
    await register(dashboard, user.id, { status: 'draft' }),
    await register(dashboard, user.id, { status: 'archived' }),
    await register(dashboard, user.id, { organization_id }),
    randomUUID(),
    'x',
    "' OR 1=1 --",
    '%00',
    '%F0%9F%90%88',
    '%ff',
    '.',
    'a'.repeat(2_000),
    'x/y',
    '',
  ]
  for (const id of hidden)
    for (const visitor of [dashboard.visitor(), person]) {
      const { status, headers, body } = await visitor.get(`/servers/${encodeURI(id)}`)
      assert.deepEqual([status, body], [404, missing.body], id)
      assert.equal(headers['cache-control'], 'no-store')
    }
  const published = await register(off, owner.id)
  const whenOff = await off.visitor().get(`/servers/${published}`)
  assert.deepEqual([whenOff.status, whenOff.body], [404, missing.body])
  assert.deepEqual([dashboard.faults, off.faults], [[], []])
})

test('each answer takes one lookup, whatever the id', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const asked: string[] = []
  const ids = [
    await register(dashboard, user.id),
    await register(dashboard, user.id, { status: 'draft' }),
    randomUUID(),
    'x',
  ]
  intercept(dashboard.store.database, { before: (texts) => void asked.push(...texts) })
  for (const id of ids) await dashboard.visitor().get(`/servers/${id}`)
  assert.equal(asked.length, ids.length)
  assert.deepEqual(new Set(asked).size, 1)
})

test('an unpublished server has no page any more, and a renamed one its new name', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const id = await register(dashboard, user.id)
  const update = (changed: Partial<ServerFields>) =>
    recordsOf(dashboard.store).updateServer(
      user.id,
      id,
      fields(changed),
      operatorAt(presentInstant()),
    )
  const get = () => dashboard.visitor().get(`/servers/${id}`)
  await update({ name: 'Renamed' })
  assert.match((await get()).body, /<bdi>Renamed</)
  await update({ status: 'draft' })
  assert.equal((await get()).status, 404)
})

test('requests from one address for public pages are throttled', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const path = `/servers/${await register(dashboard, user.id)}`
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => ask(dashboard.port, { path })),
  )
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0)
  for (const { headers } of refused) assert.equal(headers['retry-after'], '2')
})

test('a failing database is a 503 that no cache keeps', async (t) => {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const path = `/servers/${await register(dashboard, user.id)}`
  intercept(dashboard.store.database, {
    before: () => Promise.reject(new Error('no database')),
  })
  const { status, headers, body } = await ask(dashboard.port, { path })
  assert.deepEqual([status, headers['cache-control']], [503, 'no-store'])
  assert.match(body, /Something went wrong/)
  assert.equal(dashboard.faults.length, 1)
})
