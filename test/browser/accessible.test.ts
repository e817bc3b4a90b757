import assert from 'node:assert/strict'
import { test } from 'node:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { forEachState } from './states/visit.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * Every page in every state, with and without script.
 */

/** Bytes of a page with everything it loads. */
const PAGE_BYTES_MAX = 50_000
/** The page, its style sheet, its script and its icons. */
const REQUESTS_MAX = 6

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
/** Other colors change the result of this rule alone. */
const COLOR_RULE = 'color-contrast'
const OTHER_COLORS = [
  ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
  ['forced colors', { colorScheme: 'light', forcedColors: 'active' }],
] as const

const launched = launchForFile()

for (const withoutScript of [false, true]) {
  const scripts = withoutScript ? 'without script' : 'with script'

  test(`axe finds nothing in light, dark and forced colors, ${scripts}`, async (t) => {
    await forEachState(t, launched(), { withoutScript }, async (page, title) => {
      await page.evaluate(axe.source)
      await assertAccessible(page, title)
      for (const [name, colors] of OTHER_COLORS) {
        await page.emulateMedia(colors)
        await assertAccessible(page, `${title}, ${name}`, [COLOR_RULE])
      }
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
    })
  })

  test(`axe finds nothing on a phone, ${scripts}`, async (t) => {
    await forEachState(t, launched(), { withoutScript, window: PHONE }, async (page, title) => {
      await page.evaluate(axe.source)
      await assertAccessible(page, title)
    })
  })
}

test('a full page loads less than 50 kB in few requests', async (t) => {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn('ada@example.com')
  await fillAccount(dashboard, user.id)
  const { context, page } = await openWindow(t, launched())
  await signIn(page, dashboard, 'ada@example.com')
  for (const path of ['api', 'servers', 'organizations', 'account']) {
    const fresh = await context.newPage()
    const bodies: Promise<number>[] = []
    fresh.on('response', (response) => {
      bodies.push(response.body().then((body) => body.length))
    })
    await fresh.goto(`${dashboard.url}/dashboard/${path}`)
    // The script shows icons again, from the cache. Their body may be lost when the page closes.
    fresh.removeAllListeners('response')
    assert.ok(bodies.length <= REQUESTS_MAX, `${path} makes ${bodies.length} requests`)
    const bytes = (await Promise.all(bodies)).reduce((sum, length) => sum + length, 0)
    assert.ok(bytes < PAGE_BYTES_MAX, `${path} has ${bytes} bytes`)
    t.diagnostic(`${path}: ${bytes} bytes, painted after ${await firstPaint(fresh)} ms`)
    await fresh.close()
  }
})

/** Asks axe for what breaks these rules, or any of its rules. The page must contain axe. */
async function assertAccessible(page: Page, where: string, rules?: string[]): Promise<void> {
  const options = {
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: rules }),
  }
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(
    ({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes[0].html + ' ' + nodes[0].failureSummary))`)
  assert.deepEqual(found, [], where)
}

async function firstPaint(page: Page): Promise<number> {
  // The first entry may be a paint without content.
  const read = `new Promise((resolve) => new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
  }).observe({ type: 'paint', buffered: true }))`
  return Number(await page.evaluate(read))
}
