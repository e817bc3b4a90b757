import { after, before, suite } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../fixtures/chromium.ts'
import type { OpenDatabase } from '../fixtures/dashboard.ts'
import { foreignPages } from './foreign.ts'
import { shownOnce } from './shown-once.ts'
import type { Launched } from './tab.ts'
import { wholeWay } from './whole-way.ts'

/** What the dashboard promises in a real browser, on one engine. */
export function browserSuite(engine: string, open: OpenDatabase): Launched {
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
  })
  after(() => browser.close())
  const launched = () => browser

  suite(`${engine}, Chromium: the whole way`, () => wholeWay(open, launched))
  suite(`${engine}, Chromium: a key is shown once`, () => shownOnce(open, launched))
  suite(`${engine}, Chromium: foreign pages`, () => foreignPages(open, launched))
  return launched
}
