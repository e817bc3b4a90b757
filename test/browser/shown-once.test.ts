import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { eventually } from '../fixtures/eventually.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { recordsOf } from '../fixtures/records.ts'

const KEY = /svc_live_[0-9a-f]{64}/

const launched = launchForFile()

for (const javaScriptEnabled of [true, false])
  test(`reloading or going back neither shows the key again nor issues another; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { user } = await dashboard.signedIn('ada@example.com')
    const { page } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, 'ada@example.com')
    await page.fill('#name', 'bot')
    await page.click('text=Issue key')
    assert.match(await page.innerText('main'), KEY)
    assert.equal(page.url(), `${dashboard.url}/dashboard/api`)

    await page.reload()
    assert.doesNotMatch(await page.content(), KEY)
    await page.goto(`${dashboard.url}/dashboard/servers`)
    for (let steps = 0; steps < 2; steps += 1)
      assert.doesNotMatch(await contentAfterBack(page), KEY)
    assert.equal((await recordsOf(dashboard.store).listApiKeys(user.id)).length, 1)
  })

test('a button copies the key, and the browser stores it nowhere', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page, context } = await openWindow(t, launched(), { permissions })
  await signIn(page, dashboard, 'ada@example.com')
  await page.fill('#name', 'bot')
  await page.click('text=Issue key')
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

test('a screen reader hears once that a text is copied, and that a name is too long', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page } = await openWindow(t, launched(), { permissions })
  await signIn(page, dashboard, 'ada@example.com')
  const said = page.locator('main > [role=status]')
  await page.fill('#name', 'n'.repeat(64))
  assert.equal(await said.textContent(), '')
  await page.fill('#name', 'n'.repeat(65))
  assert.equal(await said.textContent(), 'At most 64 characters')
  await page.fill('#name', 'bot')
  assert.equal(await said.textContent(), '')

  await page.click('text=Issue key')
  const button = page.getByRole('button', { name: 'Copy: API key' })
  await button.click()
  await said.filter({ hasText: 'Copied' }).waitFor({ state: 'attached' })
  assert.equal(await button.textContent(), 'Copied: API key')
})

test('a double click issues one key, and two tabs issue two', async (t) => {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn('ada@example.com')
  const { page, context } = await openWindow(t, launched())
  await signIn(page, dashboard, 'ada@example.com')
  const second = await context.newPage()
  await second.goto(page.url())
  await page.fill('#name', 'first tab')
  await page.dblclick('text=Issue key')
  await page.waitForSelector('#key')
  await second.fill('#name', 'second tab')
  await second.click('text=Issue key')
  await second.waitForSelector('#key')
  const names = (await recordsOf(dashboard.store).listApiKeys(user.id)).map(({ name }) => name)
  assert.deepEqual(names, ['first tab', 'second tab'])
})

/**
 * The content after going back. It may be the browser's own page that asks whether to send a form
 * again.
 */
async function contentAfterBack(page: Page): Promise<string> {
  await page.goBack().catch(() => {})
  let content: string | null = null
  await eventually(async () => {
    content = await page.content().catch(() => null)
    return content !== null
  })
  return content!
}
