import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { HOUR_US, type Instant, presentInstant } from '../../../src/model/instant.ts'
import { slotOf, type UsageCount } from '../../../src/model/usage-counts.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { launchForFile, openWindow, signIn } from '../tab.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { usageCounts } from '../../../src/keys/records/usage-counts.ts'

/*
 * The values of a chart: below the pointer, with the keyboard, as a list, and in local time.
 */

const EMAIL = 'ada@example.com'
/** The clocks of this zone go back on November 1, 2026, at 9:00 UTC. */
const LOS_ANGELES = { timezoneId: 'America/Los_Angeles', locale: 'en-GB' }

const launched = launchForFile()

/** A dashboard whose clock shows `now`, with a key and its counts, hours ago. */
async function openCharts(
  t: Parameters<typeof openWindow>[0],
  options: Parameters<typeof openWindow>[2],
  counts: [hoursAgo: number, answered: number, limited: number][],
  now: Instant = presentInstant(),
) {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn(EMAIL)
  await person.issue('bot')
  const [apiKey] = await recordsOf(dashboard.store).listApiKeys(user.id)
  const rows = counts.map(([hours, answered, limited]): UsageCount => {
    const slot = slotOf(now - hours * HOUR_US)
    return { api_key_id: apiKey!.id, slot, answered, limited, revoked: 0 }
  })
  await usageCounts(dashboard.store.counting).addUsageCounts(rows)
  const { page, troubles } = await openWindow(t, launched(), options)
  await signIn(page, dashboard, EMAIL)
  return { ...dashboard, page, troubles, path: `${dashboard.url}/dashboard/api/${apiKey!.id}` }
}

/** The time of day in Los Angeles at which the ten minutes of that hour began. */
function clockAt(now: Instant, hoursAgo: number): string {
  const begin = slotOf(now - hoursAgo * HOUR_US) * 600_000
  const format = { timeStyle: 'short', timeZone: LOS_ANGELES.timezoneId } as const
  return new Intl.DateTimeFormat('en-GB', format).format(begin)
}

const said = (page: Page) => page.locator('.said').innerText()

test('the keyboard reaches a chart with one stop, and its arrows the value of each bar', async (t) => {
  const now = presentInstant()
  const { page, troubles } = await openCharts(
    t,
    LOS_ANGELES,
    [
      [0, 12, 3],
      [1, 1_234, 0],
    ],
    now,
  )
  const summary = await said(page)
  assert.equal(summary, `Busiest at ${clockAt(now, 1)}: 2.1 requests a second. Values`)
  await page.focus('.filter a >> nth=2')
  for (let stop = 0; stop < 3; stop += 1) await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(`document.activeElement.type`), 'range')
  const values = (ago: number, words: string) => `${clockAt(now, ago)}: ${words}`
  await page.waitForSelector(`.said:text-is("${values(0, '12 answered, 3 rate-limited (429)')}")`)
  await page.keyboard.press('ArrowLeft')
  await page.waitForSelector(`.said:has-text("no requests")`)
  for (let bar = 0; bar < 5; bar += 1) await page.keyboard.press('ArrowLeft')
  await page.waitForSelector(`.said:text-is("${values(1, '1,234 answered')}")`)
  assert.equal(
    await page.getAttribute('.chart input', 'aria-valuetext'),
    values(1, '1,234 answered'),
  )
  assert.equal(await page.getAttribute('.mark', 'd'), 'M137.5 0V99')
  await page.keyboard.press('Escape')
  assert.equal(await said(page), summary)
  await page.keyboard.press('ArrowRight')
  await page.waitForSelector(`.said:has-text("no requests")`)
  await page.keyboard.press('Tab')
  assert.equal(await said(page), summary)
  assert.deepEqual(troubles, [])
})

test('the pointer shows the value of the bar below it, and the sentence returns behind it', async (t) => {
  const now = presentInstant()
  const { page, path, troubles } = await openCharts(t, LOS_ANGELES, [[12, 7, 700]], now)
  const check = async () => {
    const summary = await said(page)
    const box = (await page.locator('.chart input').boundingBox())!
    // Bar 71 of 144, from the left.
    await page.mouse.move(box.x + (box.width * 71.5) / 144, box.y + 9)
    const words = `${clockAt(now, 12)}: 7 answered, 700 rate-limited (429)`
    await page.waitForSelector(`.said:text-is("${words}")`)
    await page.mouse.move(box.x + (box.width * 72.5) / 144, box.y + 9)
    await page.waitForSelector('.said:has-text("no requests")')
    await page.mouse.move(box.x, box.y + 300)
    assert.equal(await said(page), summary)
  }
  await check()
  await page.goto(path)
  await check()
  assert.deepEqual(troubles, [])
})

test('if the values can’t be read, the chart says so, and tries again later', async (t) => {
  const { page } = await openCharts(t, LOS_ANGELES, [[0, 5, 0]])
  await page.route('**/dashboard/api/*', (route) => route.abort())
  await page.focus('.chart input')
  await page.keyboard.press('End')
  await page.waitForSelector('.said:has-text("the values are not available right now")')
  await page.unroute('**/dashboard/api/*')
  await page.keyboard.press('Home')
  await page.keyboard.press('End')
  await page.waitForSelector('.said:has-text("5 answered")')
})

test('times are local across the end of summer time, with the hour that comes twice', async (t) => {
  const now = Date.UTC(2026, 10, 1, 12, 5) * 1_000
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn(EMAIL)
  await person.issue('bot')
  const [apiKey] = await recordsOf(dashboard.store).listApiKeys(user.id)
  const at = (hour: number, answered: number): UsageCount => {
    const slot = slotOf(Date.UTC(2026, 10, 1, hour) * 1_000)
    return { api_key_id: apiKey!.id, slot, answered, limited: 0, revoked: 0 }
  }
  await usageCounts(dashboard.store.counting).addUsageCounts([
    at(7, 1),
    at(8, 2),
    at(9, 3),
    at(10, 4),
  ])
  dashboard.elapse(now / 1_000 - Date.now())
  const { page } = await openWindow(t, launched(), LOS_ANGELES)
  await signIn(page, dashboard, EMAIL)
  assert.match(await said(page), /^Busiest at 02:00: /)
  await page.click('text=Values')
  const rows = await page.locator('.values tbody tr').allInnerTexts()
  const day = '1 Nov 2026'
  assert.deepEqual(
    rows.map((row) => row.replace(/\s+/g, ' ')),
    [`${day}, 02:00 4`, `${day}, 01:00 3`, `${day}, 01:00 2`, `${day}, 00:00 1`],
  )
})

test('without script, the values are a list in UTC, and the period is a link', async (t) => {
  const now = presentInstant()
  const options = { javaScriptEnabled: false }
  const { page } = await openCharts(
    t,
    options,
    [
      [0, 12, 3],
      [100, 5, 0],
    ],
    now,
  )
  assert.equal(await page.locator('.chart input').count(), 0)
  assert.match(await said(page), /^Busiest at \d\d:\d\d UTC: 1\.5 requests a minute\. Values$/)
  await page.click('text=Values')
  assert.match(page.url(), /#values$/)
  assert.equal(await page.innerText('.values tbody'), `${isoOf(now)} UTC\t12\t3`)
  await page.click('text=7 days')
  assert.match(page.url(), /\?span=7d$/)
  assert.equal(await page.locator('.values tbody tr').count(), 2)
})

function isoOf(now: Instant): string {
  return new Date(slotOf(now) * 600_000).toISOString().slice(0, 16).replace('T', ' ')
}
