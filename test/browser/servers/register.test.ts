import assert from 'node:assert/strict'
import { test } from 'node:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { launchForFile, openWindow, signIn, waitForFocus, waitForText } from '../tab.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The form of a server: two fields, and the others under “More”.
 */

const EMAIL = 'ada@example.com'

const launched = launchForFile()

for (const javaScriptEnabled of [true, false])
  test(`a server is registered with a name and an address from the keyboard; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { user } = await dashboard.signedIn(EMAIL)
    const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, EMAIL)
    await page.goto(`${dashboard.url}/dashboard/servers/new`)
    await waitForFocus(page, '#name')
    if (javaScriptEnabled) await assertAccessible(page)
    for (const field of ['slug', 'edition', 'version', 'listing_kind', 'status'])
      assert.equal(await page.isVisible(`#${field}`), false, field)
    await page.keyboard.type('Lagoon')
    await page.keyboard.press('Tab')
    await page.keyboard.type('https://play.lagoon.example/')
    await page.keyboard.press('Enter')
    await waitForText(
      page,
      /Lagoon was added\..* We shortened its address to play\.lagoon\.example\./,
    )
    if (javaScriptEnabled) await assertAccessible(page)
    const [server] = await recordsOf(dashboard.store).listServers(user.id)
    assert.deepEqual([server!.address, server!.slug], ['play.lagoon.example', 'lagoon'])
    assert.deepEqual(troubles, [])
  })

for (const javaScriptEnabled of [true, false])
  test(`“More” opens by a key, and is open with the focus on a mistake in it; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    await dashboard.signedIn(EMAIL)
    const { page } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, EMAIL)
    await page.goto(`${dashboard.url}/dashboard/servers/new`)
    await page.fill('#name', 'Lagoon')
    await page.fill('#address', 'play.lagoon.example')
    await page.focus('main summary')
    await page.keyboard.press('Enter')
    await page.fill('#edition', 'Java')
    if (javaScriptEnabled) await assertAccessible(page)
    // A browser could not focus a field in a closed element, so it must not be the one to complain.
    await page.click('main summary')
    await Promise.all([page.waitForNavigation(), page.click('main .primary')])
    await waitForFocus(page, '#edition')
    assert.ok(await page.isVisible('#edition-error'))
    if (javaScriptEnabled) await assertAccessible(page)
    await page.fill('#edition', 'bedrock')
    await Promise.all([page.waitForNavigation(), page.click('main .primary')])
    await waitForText(page, /Lagoon was added\./)
    await page.click('tbody a')
    await page.waitForSelector('#edition:visible')
    assert.equal(await page.inputValue('#edition'), 'bedrock')
  })

test('at 1280 px, a Thai name of 18 letters has one line of the list, and a long one two', async (t) => {
  const dashboard = await startDashboard(t)
  const { person } = await dashboard.signedIn(EMAIL)
  const name = 'ภาษาไทยเซิร์ฟเวอร์'
  const fields = { address: 'a.example', edition: 'java', status: 'published' }
  await person.post('/dashboard/servers/new', { ...fields, name, form: 'a' })
  await person.post('/dashboard/servers/new', { ...fields, name: name.repeat(5), form: 'b' })
  const { page } = await openWindow(t, launched(), { viewport: { width: 1280, height: 800 } })
  await signIn(page, dashboard, EMAIL)
  await page.goto(`${dashboard.url}/dashboard/servers`)
  const [long, short] = await page.locator('tbody th a').all()
  assert.equal(await short!.innerText(), name)
  assert.equal(await short!.getAttribute('title'), null)
  assert.equal(await long!.innerText(), name.repeat(5))
  assert.equal(await long!.getAttribute('title'), name.repeat(5))
  const [two, one] = await Promise.all([long!, short!].map((link) => link.boundingBox()))
  const line = 'parseFloat(getComputedStyle(document.querySelector("tbody th")).lineHeight)'
  const height = Number(await page.evaluate(line))
  assert.equal(Math.round((two!.height - one!.height) / height), 1)
})

/** axe needs a page that runs scripts. */
async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))',
  )
  assert.deepEqual(found, [])
}
