import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type OpenDatabase, startDashboard } from '../fixtures/dashboard.ts'
import { type Launched, openWindow, signIn } from './tab.ts'

const KEY = /svc_live_[0-9a-f]{64}/

export function shownOnce(open: OpenDatabase, launched: Launched): void {
  for (const javaScriptEnabled of [true, false])
    test(`neither reload nor back show a key or issue a second one; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
      const dashboard = await startDashboard(t, open)
      const { user } = await dashboard.signedIn('ada@example.com')
      const { page } = await openWindow(t, launched(), { javaScriptEnabled })
      await signIn(page, dashboard, 'ada@example.com')
      await page.fill('#name', 'bot')
      await page.click('text=Issue the key')
      assert.match(await page.innerText('main'), KEY)
      assert.equal(page.url(), `${dashboard.url}/dashboard/api`)

      await page.reload()
      assert.doesNotMatch(await page.content(), KEY)
      await page.goto(`${dashboard.url}/dashboard/servers`)
      for (let steps = 0; steps < 2; steps += 1)
        assert.doesNotMatch(await contentAfterBack(page), KEY)
      assert.equal((await dashboard.store.listApiKeys(user.id)).length, 1)
    })

  test('the key is copied by a button, and kept in no store of the browser', async (t) => {
    const dashboard = await startDashboard(t, open)
    await dashboard.signedIn('ada@example.com')
    const permissions = ['clipboard-read', 'clipboard-write']
    const { page, context } = await openWindow(t, launched(), { permissions })
    await signIn(page, dashboard, 'ada@example.com')
    await page.fill('#name', 'bot')
    await page.click('text=Issue the key')
    const key = await page.innerText('#key')
    await page.click('[data-copy=key]')
    await page.waitForSelector('text=Copied')
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), key)
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])',
    )
    assert.equal(kept, '[{},{},"",null]')
    assert.ok(!JSON.stringify(await context.cookies()).includes(key.slice(16)))
  })

  test('an impatient second click issues nothing, and two tabs issue two', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { user } = await dashboard.signedIn('ada@example.com')
    const { page, context } = await openWindow(t, launched())
    await signIn(page, dashboard, 'ada@example.com')
    const second = await context.newPage()
    await second.goto(page.url())
    await page.fill('#name', 'first tab')
    await page.dblclick('text=Issue the key')
    await page.waitForSelector('#key')
    await second.fill('#name', 'second tab')
    await second.click('text=Issue the key')
    await second.waitForSelector('#key')
    const names = (await dashboard.store.listApiKeys(user.id)).map(({ name }) => name)
    assert.deepEqual(names, ['first tab', 'second tab'])
  })
}

/** What is shown after a step back, which may be the browser's own page that asks whether to send a form again. */
async function contentAfterBack(page: Page): Promise<string> {
  await page.goBack().catch(() => {})
  for (let tries = 0; tries < 50; tries += 1) {
    const content = await page.content().catch(() => null)
    if (content !== null) return content
    await delay(50)
  }
  return assert.fail('the browser shows nothing')
}
