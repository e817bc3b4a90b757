import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { launchForFile, openWindow, signIn, waitForFocus } from './tab.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * After a mistake, users are where it stands.
 */

const EMAIL = 'ada@example.com'

const launched = launchForFile()

for (const javaScriptEnabled of [true, false])
  test(`a form with a mistake shows and focuses the wrong field, and the title says so; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { url } = dashboard
    const { user } = await dashboard.signedIn(EMAIL)
    const { organization } = await fillAccount(dashboard, user.id)
    const { page } = await openWindow(t, launched(), { javaScriptEnabled })
    const send = async (path: string, fields: Record<string, string>, button: string) => {
      await page.goto(`${url}${path}`)
      for (const [id, value] of Object.entries(fields)) await page.fill(`#${id}`, value)
      await Promise.all([page.waitForNavigation(), page.click(button)])
    }

    await send('/sign-in', { email: EMAIL, password: 'not this one' }, 'main button')
    await assertFocused(page, 'password', 'Error: Sign in')
    await send('/sign-up', { email: 'b@example.com', password: 'b@example.com' }, 'main button')
    await assertFocused(page, 'password', 'Error: Create an account')
    await signIn(page, dashboard, EMAIL)
    await send('/dashboard/api?name=', { name: '\u3164' }, 'text=Issue key')
    await assertFocused(page, 'name', 'Error: API keys')
    await page.goto(`${url}/dashboard/api`)
    await page.click('text=Has a key leaked?')
    await page.fill('#leaked', 'svc_live_none')
    await Promise.all([page.waitForNavigation(), page.click('text=Delete leaked keys')])
    await assertFocused(page, 'leaked', 'Error: API keys')
    const account = { email: 'eve@example.com', 'email-password': 'not this one' }
    await send('/dashboard/account', account, 'text=Change email')
    await assertFocused(page, 'email-password', 'Error: Account')
    const same = { 'new-password': EMAIL, 'password-password': PASSWORD }
    await send('/dashboard/account', same, 'text=Change password')
    await assertFocused(page, 'new-password', 'Error: Account')
    const members = `/dashboard/organizations/${organization}/members`
    await send(members, { email: 'new@example.com' }, 'button:text-is("Add member")')
    await assertFocused(page, 'email', 'Error: \u2068Cobblestone Commons\u2069')
  })

for (const javaScriptEnabled of [true, false])
  test(`several mistakes are listed at the top, with links to their fields; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    await dashboard.signedIn(EMAIL)
    const { page } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, EMAIL)
    await page.goto(`${dashboard.url}/dashboard/servers/new`)
    await page.fill('#name', 'x')
    await page.fill('#address', 'a b')
    await page.click('main summary')
    await page.fill('#slug', 'a b')
    await Promise.all([page.waitForNavigation(), page.click('main .primary')])
    await assertFocused(page, 'address', 'Error: Register a server')
    const summary = page.locator('[role=alert]')
    assert.match(await summary.innerText(), /2 fields need a change/)
    await summary.locator('a').nth(1).click()
    await waitForFocus(page, '#slug')
  })

test('a refusal that concerns no field gets the focus itself', async (t) => {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn(EMAIL)
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, EMAIL)
  await page.fill('#name', 'the sixth')
  for (let index = 0; index < 5; index += 1) await person.issue(`key ${index}`)
  await Promise.all([page.waitForNavigation(), page.click('text=Issue key')])
  assert.match(await page.innerText(':focus'), /No key was issued/)
  assert.match(await page.title(), /^Error: /)
  assert.equal((await recordsOf(dashboard.store).listApiKeys(user.id)).length, 5)
})

async function assertFocused(page: Page, id: string, title: string): Promise<void> {
  await waitForFocus(page, `#${id}`)
  assert.equal(await page.title(), `${title} · Server listing`)
  const field = page.locator(`#${id}`)
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  const error = page.locator(`#${id}-error`)
  const { y, height } = (await error.boundingBox())!
  assert.ok(y > 0 && y + height <= page.viewportSize()!.height, `the error stands at ${y}`)
  assert.match(
    (await field.getAttribute('aria-describedby')) ?? '',
    new RegExp(`\\b${id}-error\\b`),
  )
}
