import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { showLastUse } from '../../../src/keys/pages/shown-key.ts'
import { DAY_US } from '../../../src/model/instant.ts'

/*
 * Keys that no program seems to need, and where a user issues the next one.
 */

const NOW = Date.UTC(2026, 10, 26, 12) * 1_000

test('from 90 days without a use on, a key stands out', async () => {
  const key = { id: 'x', user_id: 'x', name: 'x', prefix: 'x', revoked_at: null }
  for (const [issued, used, words] of [
    [0, null, 'Never used'],
    [90, null, 'Never used'],
    [91, null, 'Never used in 91 days'],
    [200, 90, 'Last used Aug 28, 2026'],
    [200, 93, 'Unused for 93 days'],
    [93, 0, 'Last used just now'],
  ] as const) {
    const created_at = NOW - issued * DAY_US
    const last_used_at = used === null ? null : NOW - used * DAY_US
    const shown = String(await showLastUse({ ...key, created_at, last_used_at }, NOW))
    assert.equal(shown.replace(/<[^>]*>/g, ''), words)
    assert.equal(shown.includes('class="pill warn"'), /\d days$/.test(words), words)
  }
  const deleted = { ...key, created_at: 1, revoked_at: 2, last_used_at: null }
  assert.equal(String(await showLastUse(deleted, NOW)), 'Never used')
})

test('the page counts the keys that are unused for 90 days', async (t) => {
  const { signedIn, elapse, apiPort, visitor } = await startDashboard(t)
  const { person } = await signedIn('ada@example.com')
  await person.issue('never')
  const key = await person.issue('once')
  await ask(apiPort, { key })
  assert.doesNotMatch((await person.get('/dashboard/api')).body, /unused for 90 days/)
  elapse(93 * 86_400_000)
  const later = visitor()
  await later.signIn('ada@example.com', 'correct horse battery staple')
  const { body } = await later.get('/dashboard/api')
  assert.match(body, /2 keys have been unused for 90 days\. Delete keys that no program needs\./)
  assert.match(body, /Never used in 93 days/)
  assert.match(body, /Unused for 93 days/)
})

test('the period of the charts is in the address and needs no script', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  await person.issue('bot')
  for (const [query, label] of [
    ['', '24 hours'],
    ['?span=7d', '7 days'],
    ['?span=30d', '30 days'],
    ['?span=1y', '24 hours'],
  ] as const) {
    const { body } = await person.get(`/dashboard/api${query}`)
    assert.match(body, new RegExp(`aria-current="true">${label}</a>`))
    assert.match(body, new RegExp(`No requests in the last ${label}\\.`))
    assert.equal(/href="\/dashboard\/api\?span=7d"/.test(body), true)
  }
})
