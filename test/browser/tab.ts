import { after, before, type TestContext } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../fixtures/browser/chromium.ts'
import { PASSWORD, type TestDashboard } from '../fixtures/dashboard.ts'

/** One Chromium for the tests of a file: call the result within a test. */
export function launchForFile(): () => Browser {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser.close())
  return () => browser
}

/** A new browser window without cookies. */
export interface Window {
  context: BrowserContext
  page: Page
  /** Violations of the policy, errors of scripts, and dialogs. */
  troubles: string[]
}

export async function openWindow(
  t: TestContext,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Window> {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(`thrown: ${error.message}`))
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) troubles.push(message.text())
  })
  return { context, page, troubles }
}

/** Signs in on the page as the user with this email address, and opens the page of keys. */
export async function signIn(page: Page, { url }: TestDashboard, email: string): Promise<void> {
  await page.goto(`${url}/sign-in`)
  await page.fill('#email', email)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
  await page.waitForURL(/\/dashboard/)
  await page.goto(`${url}/dashboard/api`)
}

/**
 * Waits until an element of this selector has the focus. The browser focuses a field or the target
 * of a link with its next frame, which may come after the page has loaded.
 */
export async function waitForFocus(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(`${selector}:focus`, { state: 'attached' })
}

/** Waits until the text of the page's main part matches. */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('main').filter({ hasText: text }).waitFor()
}
