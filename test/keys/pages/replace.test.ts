import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import { ask } from '../../fixtures/requests.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Replacing a key, and whether a new key has arrived at its program.
 */

const NAME = 'Tom’s bot'

/** The value of a hidden field. */
const hiddenValueOf = (body: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1] ?? ''

async function replace(person: Person, id: string) {
  const { body } = await person.get(`/dashboard/api/${id}/replace`)
  const fields = ['form', 'name', 'replaces'].map((name) => [name, hiddenValueOf(body, name)])
  return person.post('/dashboard/api', Object.fromEntries(fields))
}

test('a replacement has the same name, and the old key works until it is deleted', async (t) => {
  const { signedIn, apiPort, store, elapse } = await startDashboard(t)
  const { person, user } = await signedIn()
  const old = await person.issue(NAME)
  const [{ id } = { id: '' }] = await recordsOf(store).listApiKeys(user.id)
  elapse(1_000)

  const { status, body } = await replace(person, id)
  assert.equal(status, 200)
  const key = /svc_live_[0-9a-f]{64}/.exec(body)?.[0] ?? ''
  assert.match(body, /The old key still works/)
  assert.ok(body.includes(`${old.slice(0, 16)}…`) && !body.includes(old.slice(16)))
  assert.ok(body.includes(`href="/dashboard/api/${id}/delete"`))
  for (const one of [old, key]) assert.equal((await ask(apiPort, { key: one })).status, 200)
  const names = (await recordsOf(store).listApiKeys(user.id)).map(({ name }) => name)
  assert.deepEqual(names, [NAME, NAME])

  const page = (await person.get('/dashboard/api')).body
  assert.equal(page.split('A newer key has the same name').length, 2)
  await person.post(`/dashboard/api/${id}/delete`)
  assert.equal((await ask(apiPort, { key: old })).status, 401)
  assert.doesNotMatch((await person.get('/dashboard/api')).body, /A newer key has the same name/)
})

test('a key of another user is not named as the one that is replaced', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person: bob, user } = await signedIn('bob@example.com')
  await bob.issue('his')
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  const { person: ada } = await signedIn('ada@example.com')
  const fields = { form: 'f', name: 'mine', replaces: apiKey!.id }
  const { status, body } = await ada.post('/dashboard/api', fields)
  assert.equal(status, 200)
  assert.doesNotMatch(body, /The old key still works|>his</)
})

test('after ten minutes, a replacement asks for the password', async (t) => {
  const { signedIn, store, elapse } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('bot')
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  elapse(11 * 60_000)
  const { status, body } = await replace(person, apiKey!.id)
  assert.equal(status, 403)
  assert.match(body, /<input type="text" autocomplete="username" value="ada@example\.com" hidden/)
  assert.match(body, new RegExp(`<input type="hidden" name="replaces" value="${apiKey!.id}">`))
})
