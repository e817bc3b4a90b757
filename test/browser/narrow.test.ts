import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { filesBelow } from '../fixtures/tree.ts'
import { type FullAccount, fillAccount } from './full-account.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * Small windows, and names without a space to break at.
 */

const WIDTH = 320
const WORD = 'W'.repeat(80)
const EMAIL = `${'w'.repeat(68)}@example.com`

const launched = launchForFile()

test('no page is wider than 320 px, even with words of 80 letters', async (t) => {
  const dashboard = await startDashboard(t, { operators: [EMAIL] })
  const { user } = await dashboard.signedIn(EMAIL)
  const account = await fillAccount(dashboard, user.id, WORD)
  const { page } = await openWindow(t, launched(), { viewport: { width: WIDTH, height: 640 } })
  const go = async (path: string) => {
    await page.goto(`${dashboard.url}${path}`)
    await assertFits(page, path)
  }
  for (const path of ['/sign-in', '/sign-up', '/nothing']) await go(path)
  await signIn(page, dashboard, EMAIL)
  for (const path of pagesOf(account)) await go(path)
  await go(`/dashboard/servers?q=${WORD}&page=2`)

  await page.click('summary:has-text("Account")')
  await assertFits(page, 'the account menu')
  for (const summary of await page.locator('main summary').all()) await summary.click()
  await assertFits(page, 'opened details')
  await page.goto(`${dashboard.url}/dashboard/servers/new`)
  for (const name of ['name', 'slug', 'edition']) await page.fill(`#${name}`, `${WORD} `.repeat(4))
  await page.fill('#address', WORD.repeat(9))
  await page.click('main .primary')
  await page.waitForSelector('.error')
  await assertFits(page, 'a form with mistakes')
  await page.goto(`${dashboard.url}/dashboard/api`)
  await page.fill('#name', WORD.slice(0, 64))
  await page.click('text=Issue key')
  await page.waitForSelector('#key')
  await assertFits(page, 'an issued key')
})

test('the bar is one line on a desk and at most 100 px high on a phone', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn(EMAIL)
  for (const [width, heightMax] of [
    [1280, 58],
    [390, 100],
  ] as const) {
    const { page } = await openWindow(t, launched(), { viewport: { width, height: 800 } })
    await signIn(page, dashboard, EMAIL)
    const box = await page.locator('header').boundingBox()
    assert.ok(box!.height <= heightMax, `${box!.height} px at ${width}`)
  }
})

async function assertFits(page: Page, where: string): Promise<void> {
  const widest = await page.evaluate(`(() => {
    const wide = [...document.querySelectorAll('body *')].find(
      (one) => one.getBoundingClientRect().right > innerWidth + 1
        && one.closest('pre, .unseen, thead, .table, .menu summary') === null)
    return [document.documentElement.scrollWidth, wide?.outerHTML.slice(0, 200) ?? '']
  })()`)
  assert.deepEqual(widest, [WIDTH, ''], where)
}

/** A page for each route that shows one to a signed-in user. */
function pagesOf({ server, key, organization, waiting }: FullAccount): string[] {
  const routes = filesBelow('src/dashboard', '.ts').flatMap(({ text }) =>
    [...text.matchAll(/\bapp\.get\(\s*'(\/dashboard\/[^'.]+)'/g)].map(([, path = '']) => path),
  )
  assert.ok(routes.length >= 10)
  return routes.map((route) => {
    const path = route
      .replace('organizations/:id', `organizations/${organization}`)
      .replace('import/:id', `import/${waiting}`)
      .replace('servers/:id', `servers/${server}`)
      .replace('api/:id', `api/${key}`)
    assert.ok(!path.includes(':'), `the test has no record for ${route}`)
    return path
  })
}
