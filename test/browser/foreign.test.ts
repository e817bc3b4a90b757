import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { personAt } from '../fixtures/person.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Another site's pages in a browser that is signed in to the dashboard.
 */

const launched = launchForFile()

test('forms and scripts of another site can change and read nothing', async (t) => {
  const dashboard = await startDashboard(t)
  const { store, url } = dashboard
  const { user } = await dashboard.signedIn('ada@example.com')
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, 'ada@example.com')
  const keys = async () => (await recordsOf(store).listApiKeys(user.id)).length

  // Another origin of the same site is the hardest case, because the browser sends the cookie.
  const evil = 'http://127.0.0.1:9/'
  await page.route(`${evil}**`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="${url}/dashboard/api"><input name="name" value="evil"><input name="form" value="e"></form>`,
    }),
  )
  await page.goto(evil)
  await page.evaluate('document.forms[0].submit()')
  await page.waitForURL(`${url}/dashboard/api`)
  assert.match(await page.innerText('main'), /Another site sent this form/)
  assert.equal(await keys(), 0)

  await page.goto(evil)
  const read = await page.evaluate(
    `fetch('${url}/dashboard/api', { credentials: 'include' }).then((a) => a.text(), (e) => String(e))`,
  )
  assert.match(String(read), /Failed to fetch/)
  await page.evaluate(
    `fetch('${url}/dashboard/api', { method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({ name: 'evil', form: 'x' }) }).catch(() => {})`,
  )
  assert.equal(await keys(), 0)
  const framed = page.waitForEvent('frameattached')
  await page.evaluate(
    `{ const f = document.createElement('iframe'); f.src = '${url}/dashboard/api'; document.body.append(f) }`,
  )
  const frame = await framed
  await frame.waitForLoadState()
  assert.doesNotMatch(await frame.content(), /ada@example\.com|API keys/)
  const own = personAt(dashboard.port)
  await own.signIn('ada@example.com', PASSWORD)
  await own.issue('mine')
  assert.equal(await keys(), 1)
})
