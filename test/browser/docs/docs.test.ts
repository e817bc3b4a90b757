import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { launchForFile, openWindow } from '../tab.ts'

/*
 * The documents of the API on a screen.
 */

const launched = launchForFile()

test('the list of contents stands beside the documents, and above them in a narrow window', async (t) => {
  const { url } = await startDashboard(t)
  const { page } = await openWindow(t, launched(), { viewport: { width: 1280, height: 800 } })
  const place = async () => {
    await page.goto(`${url}/docs`)
    const [contents, text] = await Promise.all([
      page.locator('.beside > details').boundingBox(),
      page.locator('.beside > .stack').boundingBox(),
    ])
    return { contents: contents!, text: text! }
  }
  const wide = await place()
  assert.ok(wide.contents.x >= wide.text.x + wide.text.width)
  await page.click('.beside nav >> text=The rate limit')
  assert.match(page.url(), /#the-rate-limit$/)
  assert.ok(await page.locator('.beside nav').isVisible(), 'the list stays in sight')
  await page.goto(`${url}/docs/clients`)
  await page.click('summary >> text=Python')
  assert.ok(await page.locator('#python').isVisible(), 'the languages still open')
  await page.setViewportSize({ width: 820, height: 800 })
  const narrow = await place()
  assert.ok(narrow.contents.y + narrow.contents.height <= narrow.text.y)
  assert.ok(!(await page.locator('.beside nav').isVisible()), 'the list is closed')
})

test('a button copies each block of the documents', async (t) => {
  const { url } = await startDashboard(t)
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page } = await openWindow(t, launched(), { permissions })
  await page.goto(`${url}/docs/guide`)
  const blocks = await page.locator('.prose pre').count()
  assert.ok(blocks > 3)
  for (let block = 1; block <= blocks; block += 1) {
    await page.click(`[data-copy=block-${block}]`)
    await page.waitForFunction(
      `navigator.clipboard.readText().then((text) => text === document.getElementById('block-${block}').textContent)`,
    )
  }
})
