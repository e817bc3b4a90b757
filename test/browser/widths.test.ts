import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { forEachState } from './states/visit.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Windows of every kind: phones, tablets, halves of a screen, and a whole one. 640 px are also
 * 1280 px at a zoom of 200 %.
 */

const WIDTHS = [320, 390, 640, 769, 820, 900, 1024, 1280, 1440]
/** The narrowest window with the bar and the tables of a desk. */
const DESK = 769
const BAR_ON_DESK_MAX = 58

const WORD = 'W'.repeat(80)
const EMAIL = `${'w'.repeat(68)}@example.com`

const launched = launchForFile()

test('at every width, no page, table or control is wider than its place, even with words of 80 letters', async (t) => {
  await forEachState(t, launched(), { email: EMAIL, name: WORD }, async (page, title) => {
    await forEachWidth(page, async (width) => {
      assert.deepEqual(await page.evaluate(findWide(BOXES)), [], `${title} at ${width} px`)
    })
  })
})

test('at every width, no word that fits on a line is broken', async (t) => {
  await forEachState(t, launched(), { name: 'Cobblestone Commons' }, async (page, title) => {
    await forEachWidth(page, async (width) => {
      assert.deepEqual(await page.evaluate(FIND_BROKEN), [], `${title} at ${width} px`)
    })
  })
})

test('the bar is one line on a desk and at most 100 px high on a phone', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn(EMAIL)
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, EMAIL)
  await forEachWidth(page, async (width) => {
    const box = await page.locator('header').boundingBox()
    const heightMax = width < DESK ? 100 : BAR_ON_DESK_MAX
    assert.ok(box!.height <= heightMax, `${box!.height} px at ${width}`)
  })
})

for (const width of [1280, 640])
  test(`with text of twice the size, no page is wider than a window of ${width} px`, async (t) => {
    const window = { viewport: { width, height: 800 } }
    await forEachState(t, launched(), { window, email: EMAIL, name: WORD }, async (page, title) => {
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
      assert.deepEqual(await page.evaluate(findWide(CONTROLS)), [], title)
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
    assert.deepEqual(await page.evaluate(findWide(BOXES)), [], says)
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
  await press('text=Create organization >> nth=0', 'was created')
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

async function forEachWidth(page: Page, check: (width: number) => Promise<void>): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    await check(width)
  }
}

/** What must have room for all of its text. With text of twice the size, tables may scroll. */
const CONTROLS = 'body, a, button, label, p, summary'
const BOXES = `${CONTROLS}, .table`

/** What the window cuts off, and which of these boxes are too narrow. */
const findWide = (boxes: string) => `(() => {
  const skipped = 'pre, .unseen, thead, .table *, .menu summary'
  const wide = [...document.querySelectorAll('body, body *')].filter((one) =>
    one.checkVisibility() && one.closest(skipped) === null && (
      one.getBoundingClientRect().right > innerWidth + 1
      || (one.matches('${boxes}') && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)))
  return wide.slice(0, 4).map((one) => one.outerHTML.slice(0, 200))
})()`

/**
 * Words on two lines. A word that takes more than half of the page may need that. A line may end
 * behind a hyphen.
 */
const FIND_BROKEN = `(() => {
  const half = document.querySelector('main').clientWidth / 2
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  const broken = []
  while (texts.nextNode()) {
    const { currentNode: text } = texts
    if (!text.parentElement.checkVisibility() || text.parentElement.closest('.unseen, option')) continue
    for (const { 0: word, index } of text.data.matchAll(/[^\\s\\-]+/g)) {
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      const pieces = [...range.getClientRects()].filter(({ width }) => width > 0)
      const width = pieces.reduce((sum, piece) => sum + piece.width, 0)
      const isBroken = pieces.some(({ top, height }) => top > pieces[0].top + height / 2)
      if (isBroken && width <= half) broken.push(word)
    }
  }
  return broken.slice(0, 8)
})()`
