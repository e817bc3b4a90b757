import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/** Bytes of a page with everything it loads. */
const PAGE_BYTES_MAX = 50_000
/** The page, its style sheet, its script and its icons. */
const REQUESTS_MAX = 6

const launched = launchForFile()

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

async function firstPaint(page: Page): Promise<number> {
  // The first entry may be a paint without content.
  const read = `new Promise((resolve) => new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
  }).observe({ type: 'paint', buffered: true }))`
  return Number(await page.evaluate(read))
}
