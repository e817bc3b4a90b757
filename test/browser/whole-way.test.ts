import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { ask } from '../fixtures/requests.ts'
import { launchForFile, openWindow, waitForFocus, waitForText } from './tab.ts'

/*
 * A user's way from a new account to a deleted key.
 */

const launched = launchForFile()

for (const javaScriptEnabled of [true, false])
  test(`a user signs up, registers a server, issues a key, uses it and deletes it; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const { url, apiPort, faults } = await startDashboard(t)
    const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
    await page.goto(url)
    await page.click('text=Create one')
    await page.fill('#email', 'ada@example.com')
    await page.fill('#password', PASSWORD)
    await page.click('text=Create account')
    await page.waitForURL(`${url}/dashboard/start`)
    await waitForText(page, /Three steps/)

    await page.click('text=Register a server')
    await page.fill('#name', 'Cobblestone Commons')
    if (javaScriptEnabled)
      assert.equal(await page.getAttribute('#slug', 'placeholder'), 'cobblestone-commons')
    await page.fill('#address', 'play.example.com:25570')
    await page.click('main button:has-text("Register")')
    await waitForText(page, /Cobblestone Commons was added\./)

    await page.click('nav >> text=API keys')
    await page.fill('#name', 'Discord bot')
    if (javaScriptEnabled) await waitForText(page, /11 of 64 characters/)
    await page.click('text=Issue key')
    const key = await page.innerText('#key')
    assert.match(key, /^svc_live_[0-9a-f]{64}$/)
    const answer = await ask(apiPort, { key })
    assert.equal(answer.status, 200)
    assert.equal(JSON.parse(answer.body).servers[0].slug, 'cobblestone-commons')

    await page.click('text=Done')
    await waitForText(page, /Last used just now/)
    await waitForText(page, /1 answered/)
    await page.click('.keys >> text=Delete…')
    await waitForText(page, /Delete the key Discord bot/)
    await page.click('main button')
    await waitForText(page, /Discord bot was deleted\. Requests with it now get a 401/)
    assert.equal((await ask(apiPort, { key })).status, 401)
    assert.deepEqual([troubles, faults], [[], []])
  })

test('the keyboard reaches everything, from the first field and from the skip link', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const { page } = await openWindow(t, launched())
  await page.goto(`${dashboard.url}/sign-in`)
  await waitForFocus(page, '#email')
  await page.keyboard.type('ada@example.com')
  await page.keyboard.press('Tab')
  await waitForFocus(page, '#password')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${dashboard.url}/dashboard/start`)
  await page.goto(`${dashboard.url}/dashboard/api`)
  await page.keyboard.press('Tab')
  await waitForFocus(page, 'a:text-is("Skip to content")')
  await page.keyboard.press('Enter')
  await waitForFocus(page, 'main')
  await page.keyboard.press('Tab')
  await waitForFocus(page, 'a:text-is("API documentation")')
  await page.keyboard.press('Tab')
  await waitForFocus(page, '#name')
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  assert.match(await page.innerText('#key'), /^svc_live_/)
  await page.goto(`${dashboard.url}/dashboard/api`)
  await page.focus('a:text-is("Issue a key")')
  await page.keyboard.press('Enter')
  await waitForFocus(page, '#name')
})
