import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './full-account.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * Every page, empty and full, in both color schemes and on a phone.
 */

/** Bytes of a page with everything it loads. */
const PAGE_BYTES_MAX = 50_000
/** The page, its style sheet, its script and its icons. */
const REQUESTS_MAX = 4

const launched = launchForFile()

for (const colorScheme of ['light', 'dark'] as const)
  test(`axe finds nothing on any page, ${colorScheme}`, async (t) => {
    const dashboard = await startDashboard(t, { operators: ['ada@example.com'] })
    const { page } = await openWindow(t, launched(), { colorScheme })
    const check = async (path: string) => {
      await page.goto(`${dashboard.url}${path}`)
      await assertAccessible(page, path)
    }
    for (const path of ['/sign-in', '/sign-up', '/nothing']) await check(path)
    const { user } = await dashboard.signedIn('ada@example.com')
    await signIn(page, dashboard, 'ada@example.com')
    const empty = ['start', 'api', 'servers', 'servers/new', 'organizations', 'account']
    for (const path of empty) await check(`/dashboard/${path}`)

    const { server, key, organization } = await fillAccount(dashboard, user.id)
    const full = [
      'api',
      'servers',
      'servers?q=nothing',
      'servers?page=2',
      'organizations',
      `organizations/${organization}`,
      `organizations/${organization}/members`,
      `servers/${server}`,
      `servers/${server}/delete`,
      `api/${key}/delete`,
      `api/${key}/replace`,
      `api/${key}/arrival`,
      'account',
      'operator',
      'docs',
    ]
    for (const path of full) await check(`/dashboard/${path}`)
    await page.goto(`${dashboard.url}/dashboard/servers/new`)
    await page.fill('#address', 'a b')
    await page.fill('#name', 'x')
    await page.fill('#slug', 'a b')
    await page.click('main button.primary')
    await page.waitForSelector('[role=alert]')
    await page.click('.menu summary')
    await assertAccessible(page, 'a form with mistakes, and the account menu')
    await page.goto(`${dashboard.url}/dashboard/api`)
    await page.fill('#name', 'bot')
    await page.click('text=Issue key')
    await assertAccessible(page, 'an issued key')
  })

test('axe finds nothing on a phone', async (t) => {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn('ada@example.com')
  const { organization } = await fillAccount(dashboard, user.id)
  const options = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const { page } = await openWindow(t, launched(), options)
  await signIn(page, dashboard, 'ada@example.com')
  for (const path of ['api', 'servers', `organizations/${organization}/members`, 'account']) {
    await page.goto(`${dashboard.url}/dashboard/${path}`)
    await assertAccessible(page, path)
  }
  await page.click('.menu summary')
  await page.click('text=Sign out >> nth=0')
  await page.fill('#email', 'ada@example.com')
  await page.fill('#password', 'not this one')
  await page.click('main button')
  await page.waitForSelector('.error')
  await assertAccessible(page, 'a refused sign-in')
})

test('a full page loads less than 50 kB in at most four requests', async (t) => {
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
    assert.ok(bodies.length <= REQUESTS_MAX, `${path} makes ${bodies.length} requests`)
    const bytes = (await Promise.all(bodies)).reduce((sum, length) => sum + length, 0)
    assert.ok(bytes < PAGE_BYTES_MAX, `${path} has ${bytes} bytes`)
    t.diagnostic(`${path}: ${bytes} bytes, painted after ${await firstPaint(fresh)} ms`)
    await fresh.close()
  }
})

async function assertAccessible(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
  )
  assert.deepEqual(found, [], where)
}

async function firstPaint(page: Page): Promise<number> {
  // The first entry may be a paint without content.
  const read = `new Promise((resolve) => new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
  }).observe({ type: 'paint', buffered: true }))`
  return Number(await page.evaluate(read))
}
