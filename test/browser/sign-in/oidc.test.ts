import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { sqliteDatabase } from '../../fixtures/dashboard.ts'
import { startSite } from '../../fixtures/oidc/site.ts'
import { launchForFile, openWindow, signIn } from '../tab.ts'

const browser = launchForFile()

/** Signs in at the provider's page. */
async function signInThere(page: Page, name: string): Promise<void> {
  await page.fill('input[name=login]', name)
  await page.click('button:text("Sign in")')
}

test('a browser goes to the provider and back, and confirms there', async (t) => {
  const site = await startSite(t, sqliteDatabase, {
    dashboardUrl: null,
    provided: { signUp: 'open' },
  })
  const { url, provider, age, faults } = site
  provider.redirectTo(`${url}/sign-in/oidc/callback`)
  const { page, context, troubles } = await openWindow(t, browser())
  await page.goto(`${url}/dashboard/api`)
  await page.click('text=Sign in with \u2068Example\u2069')
  assert.ok(page.url().startsWith(provider.issuer), page.url())
  await signInThere(page, 'ada')
  await page.waitForURL(`${url}/dashboard/api`)
  const names = (await context.cookies(url)).map(({ name }) => name)
  assert.ok(names.includes('session') && !names.includes('oidc'), names.join(' '))

  await age()
  await page.fill('#name', 'bot')
  await page.click('text=Issue key')
  await page.click('a:has-text("Sign in with Example again")')
  await signInThere(page, 'ada')
  await page.waitForURL(`${url}/dashboard/api`)
  await page.fill('#name', 'bot')
  await page.click('text=Issue key')
  await page.waitForSelector('text=svc_live_')

  await page.goto(`${url}/dashboard/account`)
  assert.equal(await page.locator('text=Connect \u2068Example\u2069').count(), 0)
  assert.deepEqual(troubles, [])
  assert.deepEqual(faults, [])
})

test('a browser connects the provider to an account with a password', async (t) => {
  const site = await startSite(t, sqliteDatabase, { dashboardUrl: null })
  const { url, provider, signedIn } = site
  provider.redirectTo(`${url}/sign-in/oidc/callback`)
  await signedIn()
  const { page, troubles } = await openWindow(t, browser())
  await signIn(page, site, 'ada@example.com')
  await page.goto(`${url}/dashboard/account`)
  await page.click('text=Connect \u2068Example\u2069')
  await page.click('text=Go to \u2068Example\u2069')
  await signInThere(page, 'max')
  await page.waitForSelector('text=Sign-in connected')
  await page.click('#connected button[name=remove]')
  await page.waitForSelector('text=Sign-in removed')
  assert.deepEqual(troubles, [])
})
