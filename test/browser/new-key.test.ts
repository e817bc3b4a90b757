import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../fixtures/dashboard.ts'
import { ask } from '../fixtures/requests.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * A new key on its way to a program: the snippets, and its first use.
 */

const launched = launchForFile()

test('without script, a link opens the page of a key, which shows the first use after a reload', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const { page, context } = await openWindow(t, launched(), { javaScriptEnabled: false })
  await signIn(page, dashboard, 'ada@example.com')
  await page.fill('#name', 'bot')
  await page.click('text=Issue key')
  const key = await page.innerText('#key')
  const opened = context.waitForEvent('page')
  await page.click('text=Check now')
  const second = await opened
  await second.waitForLoadState()
  assert.match(await second.innerText('main'), /Never used · .*No program has used this key/s)
  assert.equal((await ask(dashboard.apiPort, { key })).status, 200)
  await second.click('text=Check again')
  assert.match(await second.innerText('main'), /Last used just now/)
  assert.doesNotMatch(await second.innerText('main'), /No program has used/)
  assert.match(String(await second.getAttribute('main time', 'title')), / UTC$/)
  assert.equal(await page.innerText('#key'), key)
})

test('with script, an instant has a title in the time zone of the reader', async (t) => {
  const dashboard = await startDashboard(t)
  const { person } = await dashboard.signedIn('ada@example.com')
  const key = await person.issue('bot')
  assert.equal((await ask(dashboard.apiPort, { key })).status, 200)
  const timezoneId = 'Asia/Tokyo'
  const { page, troubles } = await openWindow(t, launched(), { timezoneId, locale: 'en-GB' })
  await signIn(page, dashboard, 'ada@example.com')
  const time = page.locator('.keys time').first()
  const instant = new Date(String(await time.getAttribute('datetime')))
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: timezoneId } as const
  const wanted = new Intl.DateTimeFormat('en-GB', format).format(instant)
  assert.equal(await time.getAttribute('title'), wanted)
  assert.deepEqual(troubles, [])
})

test('one snippet is open at a time, and its button copies it', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page } = await openWindow(t, launched(), { permissions })
  await signIn(page, dashboard, 'ada@example.com')
  await page.fill('#name', 'bot')
  await page.click('text=Issue key')
  assert.ok(await page.isVisible('#curl'))
  await page.click('summary >> text=Python')
  assert.ok(await page.isVisible('#python'))
  assert.ok(await page.isHidden('#curl'))
  await page.click('[data-copy=python]')
  await page.waitForSelector('text=Copied')
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.match(copied, /^import contextlib, hashlib, json, os/)
  await page.click('[data-copy=export]')
  const key = await page.innerText('#key')
  const read = async () => String(await page.evaluate('navigator.clipboard.readText()'))
  while ((await read()) === copied) await page.waitForTimeout(50)
  assert.equal(await read(), `export SERVER_LISTING_KEY=${key}`)
})
