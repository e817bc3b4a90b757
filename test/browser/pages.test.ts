import { test } from 'node:test'
import {
  accessible,
  accessibleInEachColor,
  atEachWidth,
  type Check,
  marked,
  named,
  narrow,
  narrowIfEnlarged,
  plain,
  reachable,
  unbroken,
} from './states/checks.ts'
import { forEachState, type Options } from './states/visit.ts'
import { launchForFile } from './tab.ts'

/*
 * What holds for every page in every state, as one table: how it is visited, and the checks.
 */

interface Visit extends Options {
  checks: Check[]
}

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const WORDS = { name: 'W'.repeat(80), email: `${'w'.repeat(68)}@example.com` }
const windowOf = (width: number) => ({ viewport: { width, height: 800 } })

const VISITS: Record<string, Visit> = {
  'on a desk': {
    name: 'Cobblestone Commons',
    checks: [accessibleInEachColor, named, marked, atEachWidth(unbroken)],
  },
  'on a desk without script': { withoutScript: true, checks: [accessibleInEachColor] },
  'on a phone': { window: PHONE, checks: [accessible, reachable] },
  'on a phone without script': {
    window: PHONE,
    withoutScript: true,
    checks: [accessible, plain],
  },
  'with words of 80 letters': { ...WORDS, checks: [atEachWidth(narrow)] },
  'with text of twice the size in 1280 px': {
    ...WORDS,
    window: windowOf(1280),
    checks: [narrowIfEnlarged],
  },
  'with text of twice the size in 640 px': {
    ...WORDS,
    window: windowOf(640),
    checks: [narrowIfEnlarged],
  },
}

const launched = launchForFile()

for (const [how, { checks, ...options }] of Object.entries(VISITS))
  test(`each page in each state passes its checks ${how}`, async (t) => {
    await forEachState(t, launched(), options, async (page, title) => {
      for (const check of checks) await check(page, title)
    })
  })
