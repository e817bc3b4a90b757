import type { TestContext } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { PASSWORD, type TestDashboard } from '../fixtures/dashboard.ts'

export type Launched = () => Browser

/** A browser window of its own, without anybody's cookies. */
export interface Window {
  context: BrowserContext
  page: Page
  /** What the policy forbade, what scripts threw, and what tried to speak to the person. */
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

/** Signs in on the page as the user with this e-mail address. */
export async function signIn(page: Page, { url }: TestDashboard, email: string): Promise<void> {
  await page.goto(`${url}/sign-in`)
  await page.fill('#email', email)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
  await page.waitForURL(`${url}/dashboard/api`)
}
