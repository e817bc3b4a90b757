import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The page of one key, and renaming on it.
 */

async function withKey({ signedIn, store }: TestDashboard, name = 'bot') {
  const { person, user } = await signedIn('ada@example.com')
  await person.issue(name)
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  return { person, user, apiKey: apiKey!, path: `/dashboard/api/${apiKey!.id}` }
}

test('a user renames a key on its page, and another key may have the same name', async (t) => {
  const dashboard = await startDashboard(t)
  const { person, path } = await withKey(dashboard)
  // Keys of one millisecond come in the order of their random ids.
  dashboard.elapse(1)
  await person.issue('Discord bot')
  assert.ok((await person.get('/dashboard/api')).body.includes(`<a href="${path}" id=k0>`))
  const { body } = await person.submit(path, { name: '  Discord bot ', was: 'bot' })
  assert.match(body, /The key is now named <b><bdi>Discord bot<\/bdi><\/b>\./)
  assert.match(body, /<h1>\u2068Discord bot\u2069<\/h1>/)
  const keys = (await person.get('/dashboard/api')).body
  assert.equal(keys.split('<bdi>Discord bot</bdi></a>').length, 3)
  assert.match((await person.get('/dashboard/account')).body, /Renamed .*Discord bot/)
})

test('a wrong name keeps the old one, and the form keeps what was typed', async (t) => {
  const { person, path } = await withKey(await startDashboard(t))
  for (const name of ['', '  ', 'a\nb', '한'.repeat(65)]) {
    const refused = await person.post(path, { name, was: 'bot' })
    assert.equal(refused.status, 422)
    assert.match(refused.body, /id="name-error">A key&#39;s name must have/)
    assert.match(refused.body, /<h1>\u2068bot\u2069<\/h1>/)
  }
  const long = await person.post(path, { name: 'x'.repeat(65), was: 'bot' })
  assert.ok(long.body.includes(`value="${'x'.repeat(65)}"`))
})

test('after another tab has renamed the key, the form says so and replaces only on purpose', async (t) => {
  const { person, path } = await withKey(await startDashboard(t))
  await person.submit(path, { name: 'first tab', was: 'bot' })
  const late = await person.post(path, { name: 'second tab', was: 'bot' })
  assert.equal(late.status, 409)
  assert.match(late.body, /renamed this key to <bdi>first tab<\/bdi>\. Rename it again/)
  assert.match(late.body, /name="was" value="first tab".*value="second tab"/s)
  const again = await person.submit(path, { name: 'second tab', was: 'first tab' })
  assert.match(again.body, /is now named <b><bdi>second tab/)
})

test('a deleted key has a page with its use, but no form', async (t) => {
  const { person, path } = await withKey(await startDashboard(t))
  await person.post(`${path}/delete`)
  const { status, body } = await person.get(path)
  assert.equal(status, 200)
  assert.match(body, /Deleted <time/)
  assert.doesNotMatch(body, /name="was"|Replace…|Delete…/)
  const late = await person.post(path, { name: 'x', was: 'bot' })
  assert.equal(late.status, 409)
  assert.match(late.body, /Nothing was saved: this key was deleted\./)
})

test('a key of another user has no page and keeps its name', async (t) => {
  const dashboard = await startDashboard(t)
  const { path, apiKey } = await withKey(dashboard)
  const { person: bob } = await dashboard.signedIn('bob@example.com')
  assert.equal((await bob.get(path)).status, 404)
  for (const name of ['his', ''])
    assert.equal((await bob.post(path, { name, was: 'bot' })).status, 404)
  const [kept] = await recordsOf(dashboard.store).findApiKeys([apiKey.id])
  assert.equal(kept!.name, 'bot')
})
