import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { forEachState } from './states/visit.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * Small windows, and names without a space to break at.
 */

const WORD = 'W'.repeat(80)
const EMAIL = `${'w'.repeat(68)}@example.com`

const launched = launchForFile()

for (const [window, options] of [
  ['320 px', { viewport: { width: 320, height: 640 } }],
  // A zoom of 200 % halves the window, in pixels of the page.
  ['1280 px at a zoom of 200 %', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
] as const)
  test(`no page is wider than a window of ${window}, even with words of 80 letters`, async (t) => {
    const settings = { window: options, email: EMAIL, name: WORD }
    await forEachState(t, launched(), settings, assertFits)
  })

for (const width of [1280, 640])
  test(`with text of twice the size, no page is wider than a window of ${width} px`, async (t) => {
    const window = { viewport: { width, height: 800 } }
    await forEachState(t, launched(), { window, email: EMAIL, name: WORD }, async (page, title) => {
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
      await assertFits(page, title)
    })
  })

test('no answer to a form is wider than 320 px, even with words of 80 letters', async (t) => {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn(EMAIL)
  const { server, organization } = await fillAccount(dashboard, user.id, WORD)
  const { page } = await openWindow(t, launched(), { viewport: { width: 320, height: 640 } })
  const { store, url } = dashboard
  const press = async (button: string, says: string) => {
    await page.click(button)
    await page.waitForSelector(`main >> text=${says}`)
    await assertFits(page, says)
  }
  await signIn(page, dashboard, EMAIL)
  for (const list of ['servers', `organizations/${organization}`]) {
    await page.goto(`${url}/dashboard/${list}`)
    await press('#b0', 'is now a draft')
    await page.click('text=Select all')
    await press('text=Delete…', 'Delete these servers?')
    await press('button.danger', 'more were deleted')
    await press('text=Undo', 'more are back')
  }
  await page.goto(`${url}/dashboard/servers/${server}`)
  const stored = await store.findServer(user.id, server)
  await store.updateServer(user.id, server, { ...stored!, version: WORD.slice(0, 64) }, 1)
  await press('main .primary', 'Nothing was saved')
  await store.changeServers(user.id, { id: user.id, status: null, servers: [server] }, 1)
  await press('main .primary', 'This server no longer exists')
  await page.goto(`${url}/dashboard/servers/import`)
  await page.fill('#text', `name,address\n${WORD},${WORD.repeat(4)}\n`)
  await press('text=Check', '1 wrong')
  await page.fill('#text', `name,address\n${WORD},${WORD.slice(0, 60)}.example\n`)
  await press('button:has-text("Check")', '1 new')
  await page.goto(`${url}/dashboard/organizations`)
  await page.fill('#name', WORD)
  await page.fill('#slug', 'another')
  await press('text=Create organization >> nth=0', 'was created')
  await page.goto(`${url}/dashboard/servers/new`)
  await page.fill('#name', WORD)
  await page.fill('#address', 'a.example')
  await store.endSessions(user.id)
  await press('main .primary', 'Your session has ended')
})

test('the bar is one line on a desk and at most 100 px high on a phone', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn(EMAIL)
  for (const [width, heightMax] of [
    [1280, 58],
    [390, 100],
    [320, 100],
  ] as const) {
    const { page } = await openWindow(t, launched(), { viewport: { width, height: 800 } })
    await signIn(page, dashboard, EMAIL)
    const box = await page.locator('header').boundingBox()
    assert.ok(box!.height <= heightMax, `${box!.height} px at ${width}`)
  }
})

test('at 320 px, a name has room beside a long age, and a notice sticks to the top', async (t) => {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn(EMAIL)
  await fillAccount(dashboard, user.id)
  const { page } = await openWindow(t, launched(), { viewport: { width: 320, height: 640 } })
  await signIn(page, dashboard, EMAIL)
  await page.goto(`${dashboard.url}/dashboard/servers?sort=changed`)
  const first = page.locator('tbody tr >> nth=0')
  assert.match(await first.innerText(), /not returned/)
  const name = await first.locator('th').boundingBox()
  assert.ok(name!.width >= 110, `${name!.width} px`)
  await page.click('text=Select all')
  await page.click('button:text-is("Unpublish") >> nth=0')
  await page.waitForSelector('.notice.done')
  await page.evaluate('scrollTo(0, 2000)')
  assert.equal((await page.locator('.notice.done').boundingBox())!.y, 0)
})

/** Nothing needs scrolling sideways, and no control loses a part of its text. */
async function assertFits(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(`(() => {
    const skipped = 'pre, .unseen, thead, .table, .menu summary'
    const all = [...document.querySelectorAll('body *')].filter(
      (one) => one.checkVisibility() && one.closest(skipped) === null)
    const wide = all.find((one) => one.getBoundingClientRect().right > innerWidth + 1)
    const cut = all.find((one) => one.matches('a, button, label, p, summary')
      && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
    return [
      document.documentElement.scrollWidth <= innerWidth,
      wide?.outerHTML.slice(0, 200) ?? '',
      cut?.outerHTML.slice(0, 200) ?? '',
    ]
  })()`)
  assert.deepEqual(found, [true, '', ''], where)
}
