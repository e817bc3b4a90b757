import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { ENTRY, startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { addOrganization, fields, register } from '../../contract/people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Moving servers to an organization and back, from a list and by the form of a server.
 */

const CHANGE = '/dashboard/servers/change'
const UNDO = '/dashboard/servers/undo'

test('selected servers move to an organization, and the notice says what the API returns', async (t) => {
  const { person, store, user, emerald, own } = await withServers(t)
  const rows = own.join('.')
  const before = await recordsOf(store).listServers(user.id)
  const form = { form: 'f', rows, from: '/dashboard/servers', 0: 'on', 1: 'on' }
  const asked = await person.post(CHANGE, { ...form, to: 'moved' })
  assert.equal(asked.status, 200)
  assert.match(asked.body, /<h1>Move 2 servers<\/h1>/)
  assert.match(asked.body, /<option value="[^"]+" selected>.Emerald.: the API never returns them</)
  assert.doesNotMatch(asked.body, /value="personal"/)
  assert.deepEqual(await recordsOf(store).listServers(user.id), before)

  const confirmed = { form: 'g', rows: own.slice(0, 2).join('.'), to: 'moved for sure' }
  const moved = await person.submit(CHANGE, { ...confirmed, move: emerald })
  assert.match(
    moved.body,
    /<bdi>two<\/bdi><\/b> were moved to <a href="[^"]+"><bdi>Emerald<\/bdi><\/a>\. The API no longer returns them\./,
  )
  const left = await recordsOf(store).previewListing(user.id)
  assert.deepEqual(
    left.map(({ name }) => name),
    ['three'],
  )
  const undone = await person.submit(UNDO, undoOf(moved.body))
  assert.match(undone.body, /<bdi>two<\/bdi><\/b> are as before\./)
  assert.deepEqual(await recordsOf(store).listServers(user.id), before)
})

test('a list can move the selected servers without a question, also back', async (t) => {
  const { person, store, user, emerald, own } = await withServers(t)
  const rows = own.join('.')
  await person.submit(CHANGE, { form: 'f', rows, 2: 'on', move: emerald })
  const [moved] = (await recordsOf(store).listServers(user.id)).filter(
    ({ organization }) => organization !== null,
  )
  assert.equal(moved?.name, 'three')
  const from = `/dashboard/organizations/${emerald}`
  const back = await person.submit(CHANGE, { form: 'g', rows, 2: 'on', move: 'personal', from })
  assert.match(
    back.body,
    /<bdi>three<\/bdi><\/b> is a personal server now\. The API now returns it/,
  )
  const again = await person.submit(CHANGE, { form: 'h', rows, 2: 'on', move: 'personal', from })
  assert.match(again.body, /Nothing was changed\. Every selected server is there already\./)
  const none = await person.submit(CHANGE, { form: 'i', rows, move: 'personal' })
  assert.match(none.body, /Select at least one server first/)
})

test('a move to an organization that the user has left, or with a slug twice, moves nothing', async (t) => {
  const { person, store, user, emerald, own } = await withServers(t)
  const before = await recordsOf(store).listServers(user.id)
  const rows = own.join('.')
  const form = { form: 'f', rows, to: 'moved for sure' }
  for (const move of [randomUUID(), 'x', 'you']) {
    const refused = await person.post(CHANGE, { ...form, move })
    assert.equal(refused.status, 404)
    assert.match(refused.body, /<h1>Nothing was changed<\/h1>.*not a member of the organization/s)
  }
  const twice = { slug: 'two', organization_id: emerald }
  await recordsOf(store).insertServer(
    user.id,
    randomUUID(),
    fields(twice),
    operatorAt(presentInstant()),
  )
  const refused = await person.post(CHANGE, { ...form, move: emerald })
  assert.equal(refused.status, 409)
  assert.match(refused.body, /Change these slugs, or leave the servers out: <code><bdi>two</)
  const after = await recordsOf(store).listServers(user.id)
  assert.deepEqual(
    after.filter(({ organization }) => organization === null),
    before,
  )
})

test('a user without an organization is led to one, and the list of an organization offers others', async (t) => {
  const { person, store, user, emerald, own } = await withServers(t)
  const form = { form: 'f', rows: own.join('.'), 0: 'on', to: 'moved' }
  await person.submit(CHANGE, { ...form, to: 'moved', move: emerald })
  const asked = await person.post(CHANGE, form)
  assert.match(asked.body, /<option value="personal" selected>You: the API returns it</)
  assert.doesNotMatch(asked.body, new RegExp(`<option value="${emerald}"`))
  await person.submit(CHANGE, { ...form, form: 'g', move: 'personal' })
  await recordsOf(store).removeOrganization(user.id, emerald, operatorAt(presentInstant()))
  const none = await person.post(CHANGE, form)
  assert.match(none.body, /You are not a member of an organization\./)
})

test('an edit can be undone, and one that moves says where and what the API returns', async (t) => {
  const { person, store, user, emerald, own } = await withServers(t)
  const path = `/dashboard/servers/${own[0]}`
  const before = await recordsOf(store).listServers(user.id)
  const [, form = ''] = /name="form" value="([^"]+)"/.exec((await person.get(path)).body) ?? []
  assert.notEqual(form, '')
  const [, seen = ''] = /name="seen" value="([^"]+)"/.exec((await person.get(path)).body) ?? []
  const wanted = { ...ENTRY, name: 'moved', organization_id: emerald, form, seen }
  const saved = await person.submit(path, wanted)
  assert.match(
    saved.body,
    /<bdi>moved<\/bdi><\/b> was moved to .*Emerald.* The API no longer returns/,
  )
  assert.deepEqual(undoOf((await person.submit(path, wanted)).body), undoOf(saved.body))
  assert.match((await person.submit(UNDO, undoOf(saved.body))).body, /moved<.*> is as before\./)
  assert.deepEqual(await recordsOf(store).listServers(user.id), before)
  const edited = await person.submit(path, { ...ENTRY, name: 'edited', form: 'g', seen })
  assert.match(edited.body, /<bdi>edited<\/bdi><\/b> was saved\..*>Undo</s)
  const [, now = ''] = /name="seen" value="([^"]+)"/.exec((await person.get(path)).body) ?? []
  const same = await person.submit(path, { ...ENTRY, name: 'edited', form: 'h', seen: now })
  assert.match(same.body, /Nothing was changed\. The server already has these values\./)
})

async function withServers(t: Parameters<typeof startDashboard>[0]) {
  const dashboard: TestDashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const { store } = dashboard
  const now = presentInstant() - 60_000_000
  const emerald = await addOrganization(store, user, { slug: 'emerald', name: 'Emerald' }, now)
  const own: string[] = []
  for (const [index, name] of ['one', 'two', 'three'].entries())
    own.push(await register(store, user, { name, slug: name }, now - index))
  return { person, store, user, emerald, own }
}

function undoOf(body: string): { change: string } {
  const [, change = ''] = /undo"><button name="change" value="([^"]*)">/.exec(body) ?? []
  assert.notEqual(change, '', body)
  return { change }
}
