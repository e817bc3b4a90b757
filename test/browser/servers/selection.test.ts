import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { organizations } from '../../../src/organizations/records/organizations.ts'
import { serverImports } from '../../../src/servers/records/server-imports.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { launchForFile, openWindow, signIn, waitForFocus } from '../tab.ts'

/*
 * The list of servers: selecting some, the bar with what can be done with them, and searching.
 */

const DESK = { width: 1280, height: 800 }
const SMALL_PHONE = {
  viewport: { width: 320, height: 640 },
  hasTouch: true,
  isMobile: true,
}
const EVERY_MODE = [
  { javaScriptEnabled: true, mode: 'with script' },
  { javaScriptEnabled: false, mode: 'without script' },
]

const launched = launchForFile()

for (const { javaScriptEnabled, mode } of EVERY_MODE)
  test(`three clicks publish 150 drafts; ${mode}`, async (t) => {
    const { page } = await openList(t, { javaScriptEnabled })
    await page.click('.filter >> text=Drafts')
    await page.click('text=All 150 that match')
    await page.click('.bar >> text="Publish"')
    await page.waitForSelector('text=and 148 more are now published')
    await page.waitForSelector('h2:has-text("No drafts")')
  })

for (const { javaScriptEnabled, mode } of EVERY_MODE)
  test(`only a selection brings the bar, and ending it takes the bar away; ${mode}`, async (t) => {
    const { page } = await openList(t, { javaScriptEnabled })
    const bar = page.locator('.bar')
    const boxes = page.locator('tbody [type=checkbox]')
    const before = await tops(page)
    assert.equal(await bar.isVisible(), false)
    await boxes.nth(1).check()
    assert.equal(await bar.isVisible(), true)
    assert.deepEqual(await tops(page), before, 'the rows have moved')
    assert.deepEqual(await page.evaluate(BORDERS), [true, true, true, true])
    await boxes.nth(1).uncheck()
    assert.equal(await bar.isVisible(), false)
    await page.click('text=Select page')
    await page.waitForSelector('tbody :checked >> nth=49')
    await page.click('text=Select none')
    await bar.waitFor({ state: 'hidden' })
    assert.equal(await page.locator('.list :checked').count(), 0)
  })

test('the script counts what is selected, in the bar and for screen readers', async (t) => {
  const { page } = await openList(t)
  const says = async (text: string) => {
    assert.equal(await page.textContent('.bar b'), text)
    assert.equal(await page.textContent('[role=status]'), text)
  }
  const boxes = page.locator('tbody [type=checkbox]')
  await boxes.nth(0).check()
  await says('1 selected')
  await page.click('text=Select page')
  await says('50 selected')
  await page.check('[name=all]')
  await says('150 selected')
  await boxes.nth(3).uncheck()
  assert.equal(await page.isChecked('[name=all]'), false)
  await says('49 selected')
  await page.check('[name=all]')
  await page.uncheck('[name=all]')
  await says('0 selected')
})

test('without script, the boxes of rows give way to the box for all', async (t) => {
  const { page } = await openList(t, { javaScriptEnabled: false })
  await page.check('[name=all]')
  assert.equal(await page.isVisible('tbody [type=checkbox] >> nth=0'), false)
  await page.uncheck('[name=all]')
  assert.equal(await page.isVisible('tbody [type=checkbox] >> nth=0'), true)
})

for (const viewport of [SMALL_PHONE.viewport, DESK])
  test(`the bar covers no focus and no end of the page, ${viewport.width} px`, async (t) => {
    const { page } = await openList(t, { viewport })
    await page.check('tbody [type=checkbox] >> nth=0')
    await page.focus('tbody [type=checkbox] >> nth=0')
    for (let stop = 0; stop < 60; stop += 1) {
      await page.keyboard.press('Tab')
      assert.ok(await page.evaluate(IS_FOCUS_SEEN), `stop ${stop}`)
    }
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    const bar = (await page.locator('.bar').boundingBox())!
    const table = (await page.locator('.table').boundingBox())!
    assert.ok(bar.y >= table.y + table.height, `${bar.y} px`)
  })

test('on a small phone the first server is in sight, and no bar', async (t) => {
  const { page } = await openList(t, SMALL_PHONE)
  const { height } = SMALL_PHONE.viewport
  const row = (await page.locator('tbody tr >> nth=0').boundingBox())!
  t.diagnostic(`from ${row.y} to ${row.y + row.height} px`)
  assert.ok(row.y + row.height <= height, `${row.y + row.height} px`)
  const actions = page.locator('.head a')
  const [first, last] = [await actions.first().boundingBox(), await actions.last().boundingBox()]
  assert.equal(first!.y, last!.y)
  const [address, action] = [
    (await page.locator('tbody td:nth-child(3) >> nth=0').boundingBox())!,
    (await page.locator('tbody td > button >> nth=0').boundingBox())!,
  ]
  assert.ok(Math.abs(middleOf(address) - middleOf(action)) < 2, 'one line')
  for (const name of await page.locator('tbody th > a').all())
    assert.ok((await name.boundingBox())!.height >= 24)
  // The bar is at the bottom of the screen.
  await page.check('tbody [type=checkbox] >> nth=0')
  const bar = (await page.locator('.bar').boundingBox())!
  t.diagnostic(`the bar takes ${bar.height} px`)
  assert.ok(bar.y + bar.height <= height && bar.y + bar.height > height - 20)
})

test('after a search the focus is on the number of results, and a link skips to it', async (t) => {
  const { page } = await openList(t)
  assert.equal(await page.evaluate('document.activeElement.localName'), 'body')
  await page.fill('[name=q]', 'number 1')
  await page.press('[name=q]', 'Enter')
  await waitForFocus(page, '#found')
  assert.equal(
    await page.evaluate('document.activeElement.textContent'),
    '62 of 150 servers · 100 returned by the API',
  )
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Select page')
  await page.focus('.head a >> nth=-1')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await waitForFocus(page, '#found')
})

test('the columns of a table have the same places on every page', async (t) => {
  const { page } = await openList(t)
  for (const width of [769, 1024, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    const pages: unknown[] = []
    for (const query of ['', '?page=2', '?q=number+149']) pages.push(await columnsOf(page, query))
    assert.deepEqual([pages[1], pages[2]], [pages[0], pages[0]], `${width} px`)
  }
})

test('screen readers hear the names of rows and the order, but no arrow', async (t) => {
  const { page } = await openList(t)
  const tree = await page.locator('table').ariaSnapshot()
  assert.match(tree, /columnheader "Changed"/)
  assert.match(tree, /rowheader "number 1"/)
  assert.match(tree, /checkbox "Select number 1"/)
  assert.match(tree, /button "Publish number 1"/)
})

/** Whether each button of the bar that changes servers has a border. */
const BORDERS = `[...document.querySelectorAll('.bar [name=to]')].map((one) => {
  const { borderTopColor, borderTopWidth } = getComputedStyle(one)
  return borderTopColor !== 'rgba(0, 0, 0, 0)' && borderTopWidth === '1px'
})`

/** True if what has the focus, or a part of it, is in sight. */
const IS_FOCUS_SEEN = `(() => {
  const { left, right, top, bottom } = document.activeElement.getBoundingClientRect()
  const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
  return seen !== null && document.activeElement.contains(seen)
})()`

/** Where the first rows are. */
async function tops(page: Page): Promise<number[]> {
  const rows = await page.locator('tbody tr').all()
  return Promise.all(rows.slice(0, 5).map(async (row) => (await row.boundingBox())!.y))
}

function middleOf({ y, height }: { y: number; height: number }): number {
  return y + height / 2
}

async function columnsOf(page: Page, query: string): Promise<unknown> {
  await page.goto(`${new URL(page.url()).origin}/dashboard/servers${query}`)
  return page.evaluate(`[...document.querySelectorAll('thead th')].map((one) => {
    const { left, width } = one.getBoundingClientRect()
    return [Math.round(left), Math.round(width)]
  })`)
}

/** The list of 150 drafts, of which the names, addresses and versions differ in length. */
async function openList(t: TestContext, options: BrowserContextOptions = { viewport: DESK }) {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn('ada@example.com')
  const now = presentInstant()
  const { database } = dashboard.store
  const entries = Array.from({ length: 150 }, (_, index) => ({
    name: `number ${index + 1}`,
    address: `${'s'.repeat(index % 60)}${index}.example.com`,
    ...(index > 50 ? { version: `1.21.${index}` } : {}),
    status: 'draft',
    updated_at: now - index * 60_000_000,
  }))
  await serverImports(database).saveServers(user.id, null, entries, operatorAt(now))
  const guild = { id: crypto.randomUUID(), slug: 'guild', name: 'Guild' }
  await organizations(database).insertOrganization(user.id, guild, operatorAt(now))
  const window = await openWindow(t, launched(), options)
  await signIn(window.page, dashboard, 'ada@example.com')
  await window.page.goto(`${dashboard.url}/dashboard/servers`)
  t.after(() => assert.deepEqual([window.troubles, dashboard.faults], [[], []]))
  return { ...window, dashboard }
}
