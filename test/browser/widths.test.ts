import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { narrow, WIDTHS } from './states/checks.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * What is as wide or high as it should be, beside what pages.test.ts checks on each page.
 */

/** The narrowest window with the bar and the tables of a desk. */
const DESK = 769
const BAR_ON_DESK_MAX = 58

const WORD = 'W'.repeat(80)
const EMAIL = `${'w'.repeat(68)}@example.com`

const launched = launchForFile()

test('the bar is one line on a desk and at most 100 px high on a phone', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn(EMAIL)
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, EMAIL)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    const box = await page.locator('header').boundingBox()
    const heightMax = width < DESK ? 100 : BAR_ON_DESK_MAX
    assert.ok(box!.height <= heightMax, `${box!.height} px at ${width}`)
  }
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
    await narrow(page, says)
  }
  await signIn(page, dashboard, EMAIL)
  for (const list of ['servers', `organizations/${organization}`]) {
    await page.goto(`${url}/dashboard/${list}`)
    await press('#b0', 'is now a draft')
    await page.click('.list [name=select]')
    await press('text=Delete…', 'Delete these servers?')
    await press('button.danger', 'more were deleted')
    await press('text=Undo', 'more are back')
  }
  await page.goto(`${url}/dashboard/servers/${server}`)
  const stored = await recordsOf(store).findServer(user.id, server)
  await recordsOf(store).updateServer(
    user.id,
    server,
    { ...stored!, version: WORD.slice(0, 64) },
    operatorAt(1),
  )
  await press('main .primary', 'Nothing was saved')
  await recordsOf(store).changeServers(
    user.id,
    { id: user.id, becomes: null, servers: [server] },
    operatorAt(1),
  )
  await press('main .primary', 'This server no longer exists')
  await page.goto(`${url}/dashboard/servers/import`)
  await page.fill('#text', `name,address\n${WORD},${WORD.repeat(4)}\n`)
  await press('text=Check', '1 wrong')
  await page.fill('#text', `name,address\n${WORD},${WORD.slice(0, 60)}.example\n`)
  await press('button:has-text("Check")', '1 new')
  await page.goto(`${url}/dashboard/organizations`)
  await page.fill('#name', WORD)
  await page.fill('#slug', 'another')
  await press('text=Create organization >> nth=0', 'Organization created')
  await page.goto(`${url}/dashboard/servers/new`)
  await page.fill('#name', WORD)
  await page.fill('#address', 'a.example')
  await recordsOf(store).endSessions(user.id, operatorAt(presentInstant()))
  await press('main .primary', 'Your session has ended')
})

test('at 320 px, a name has room beside a long age, a status fits into its pill, and a notice sticks to the top', async (t) => {
  const dashboard = await startDashboard(t, { siteUrl: 'https://example.com' })
  const { user } = await dashboard.signedIn(EMAIL)
  await fillAccount(dashboard, user.id)
  const { page } = await openWindow(t, launched(), { viewport: { width: 320, height: 640 } })
  await signIn(page, dashboard, EMAIL)
  await page.goto(`${dashboard.url}/dashboard/servers?sort=changed`)
  const first = page.locator('tbody tr >> nth=0')
  assert.match(await first.innerText(), /not returned/)
  const name = await first.locator('th').boundingBox()
  assert.ok(name!.width >= 110, `${name!.width} px`)
  // The arrow says that it leads to the public page.
  const pill = page.locator('tbody a > .pill >> nth=0')
  const { inner, outer } = await pill.evaluate(({ scrollWidth, clientWidth }) => ({
    inner: scrollWidth,
    outer: clientWidth,
  }))
  assert.ok(inner <= outer, `${inner} px in ${outer} px`)
  await page.click('text=Select page')
  await page.click('button:text-is("Unpublish") >> nth=0')
  await page.waitForSelector('.notice.done')
  await page.evaluate('scrollTo(0, 2000)')
  assert.equal((await page.locator('.notice.done').boundingBox())!.y, 0)
})
