import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { forEachState } from '../states/visit.ts'
import { launchForFile, openWindow, signIn } from '../tab.ts'

/*
 * Pages on paper.
 */

/** What only a screen needs. The names of a table's columns are buttons. */
const ON_SCREEN =
  'header.top, button:not(thead button), [type=search], a.button, .filter, .beside nav, [type=checkbox]'

const launched = launchForFile()

test('no printed page has a bar, a list of links or a button, and each is dark on light', async (t) => {
  await forEachState(t, launched(), {}, async (page, title) => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const seen = await page.evaluate(
      `[...document.querySelectorAll('${ON_SCREEN}')].filter((one) => one.checkVisibility()).length`,
    )
    const color = await page.evaluate('getComputedStyle(document.body).color')
    assert.deepEqual([seen, color], [0, 'rgb(18, 24, 21)'], title)
    await page.emulateMedia({ media: null, colorScheme: 'light' })
  })
})

test('the page of a new key prints no key', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, 'ada@example.com')
  await page.fill('#name', 'bot')
  await page.click('text=Issue key')
  assert.match(await page.innerText('main'), /svc_live_[0-9a-f]{64}/)
  await page.emulateMedia({ media: 'print' })
  assert.doesNotMatch(await page.innerText('main'), /svc_live_[0-9a-f]{64}/)
})

test('the printed list names its columns and breaks addresses instead of hiding their ends', async (t) => {
  const dashboard = await startDashboard(t)
  const { person } = await dashboard.signedIn('ada@example.com')
  const server = { ...ENTRY, address: 'play.redstone.example.com', form: 'f' }
  await person.post('/dashboard/servers/new', server)
  const { page } = await openWindow(t, launched(), { viewport: { width: 800, height: 600 } })
  await signIn(page, dashboard, 'ada@example.com')
  await page.goto(`${dashboard.url}/dashboard/servers`)
  await page.emulateMedia({ media: 'print' })
  assert.match(await page.innerText('thead'), /Name\s+Address\s+Edition\s+Status\s+Changed/)
  const cut = await page.$eval('td:nth-child(3)', (cell) => cell.scrollWidth > cell.clientWidth)
  assert.equal(cut, false)
})
