import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../src/model/instant.ts'
import { issueApiKey } from '../../src/keys/records/issued-keys.ts'
import { startDashboard } from '../fixtures/dashboard.ts'
import { HOSTILE_PARTS as PARTS } from './states/hostile-names.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

const AROUND = ['', 'a', ' 한글 ', '🐈', '\u200f', "'", '"', '>', '\\', '&']

/** 200 names that try to be more than text. */
const NAMES = PARTS.flatMap((part) => AROUND.map((around) => `${around}${part}${around}`.trim()))

const launched = launchForFile()

test('every page shows 200 hostile names as text, and no script runs or is blocked', async (t) => {
  assert.equal(NAMES.length, 200)
  const dashboard = await startDashboard(t)
  const { store, url } = dashboard
  const { user } = await dashboard.signedIn('ada@example.com')
  const operator = operatorAt(presentInstant())
  const organization = await recordsOf(store).ensureOrganization('guild', user.id, operator)
  const entries = NAMES.map((name, index) => ({
    name,
    address: `s${index}.example`,
    edition: name.slice(0, 60),
    status: name.slice(0, 60),
  }))
  await recordsOf(store).saveServers(user.id, null, entries, operator)
  await recordsOf(store).saveServers(user.id, organization, entries, operator)
  for (const name of NAMES) {
    const issued = await issueApiKey(store.database, user.id, name.slice(0, 60), operator)
    assert.ok('key' in issued)
    await recordsOf(store).revokeApiKey(user.id, issued.apiKey.id, operator)
  }
  // Keys with one instant would sort by their random ids, and the test opens the page of the first.
  for (const [index, name] of PARTS.slice(0, 4).entries())
    await issueApiKey(store.database, user.id, name, operatorAt(presentInstant() + index * 1_000))

  const { page, troubles } = await openWindow(t, launched())
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) foreign.push(request.url())
  })
  await signIn(page, dashboard, 'ada@example.com')
  const at = async (path: string) => {
    await page.goto(`${url}/dashboard/${path}`)
    assert.equal(page.url(), `${url}/dashboard/${path}`)
  }
  for (const path of ['servers', `organizations/${organization}`])
    for (const number of [1, 2, 3, 4]) await at(`${path}?page=${number}`)
  const shown = await page.locator('tbody a').allInnerTexts()
  assert.equal(shown.length, 50)
  await at('api')
  await page.click('.keys >> text=Delete… >> nth=0')
  assert.match(await page.innerText('main'), /Delete the key </)
  const servers = await recordsOf(store).listServers(user.id)
  for (const { id } of servers.slice(0, 40)) {
    await at(`servers/${id}`)
    await at(`servers/${id}/delete`)
  }
  for (const name of PARTS) {
    const query = new URLSearchParams({ q: name, name, address: name, email: name })
    for (const path of ['servers', 'servers/new', 'api', 'organizations', 'account'])
      await page.goto(`${url}/dashboard/${path}?${query.toString()}`)
  }
  assert.deepEqual([troubles, foreign], [[], []])
})
