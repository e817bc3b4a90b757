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
