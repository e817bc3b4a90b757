import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { presentInstant } from '../../src/model/instant.ts'
import { slotOf } from '../../src/model/usage-counts.ts'
import { startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { SPANS } from '../../src/keys/pages/usage/usage-span.ts'
import { recordsOf } from '../fixtures/records.ts'
import { usageCounts } from '../../src/keys/records/usage-counts.ts'

/*
 * What colors say is also said without hue, and in the colors that a user forces on every page.
 */

const EMAIL = 'ada@example.com'
const KINDS = ['answered', 'limited', 'revoked']
/** Contrast between parts of a chart, and of a part with the ground (WCAG 1.4.11). */
const KINDS_CONTRAST_MIN = 2
const GROUND_CONTRAST_MIN = 3
/** The width of a bar of ten minutes in each of its colors. */
const BURST_PX_MIN = 1.5

const launched = launchForFile()

for (const colorScheme of ['light', 'dark'] as const)
  test(`the areas of a chart differ in lightness, and a line separates them, ${colorScheme}`, async (t) => {
    const page = await openKeys({ colorScheme }, t)
    const ground = await colorOf(page, '.keys', 'background-color')
    const fills = await Promise.all(KINDS.map((kind) => colorOf(page, `path.${kind}`, 'fill')))
    for (const [index, fill] of fills.entries()) {
      assert.ok(contrast(fill, ground) >= GROUND_CONTRAST_MIN, `${KINDS[index]} on the ground`)
      assert.equal(await colorOf(page, `path.${KINDS[index]}`, 'stroke'), ground)
      for (const [before, other] of fills.slice(0, index).entries()) {
        const between = contrast(fill, other)
        const kinds = `${KINDS[index]} and ${KINDS[before]}: ${between}`
        assert.ok(between >= KINDS_CONTRAST_MIN, kinds)
      }
    }
  })

test('on a phone, ten minutes of too many requests are seen in both colors in every period', async (t) => {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn(EMAIL)
  await person.issue('bot')
  const [apiKey] = await recordsOf(dashboard.store).listApiKeys(user.id)
  const slot = slotOf(presentInstant()) - 40
  const burst = { api_key_id: apiKey!.id, slot, answered: 300, limited: 300, revoked: 0 }
  await usageCounts(dashboard.store.counting).addUsageCounts([burst])
  const { page } = await openWindow(t, launched(), { viewport: { width: 390, height: 844 } })
  await signIn(page, dashboard, EMAIL)
  const ground = await colorOf(page, '.keys', 'background-color')
  const [answered, limited] = [
    await colorOf(page, 'path.answered', 'fill'),
    await colorOf(page, 'path.limited', 'fill'),
  ]
  const reader = await page.context().newPage()
  for (const { id } of SPANS) {
    await page.goto(`${dashboard.url}/dashboard/api?span=${id}`)
    const picture = (await page.locator('.chart svg').screenshot()).toString('base64')
    const drawn = (at: number, color: string) =>
      reader.evaluate(`(${READ_WIDTH})(${JSON.stringify({ picture, at, color, ground })})`)
    for (const [kind, width] of [
      ['limited', await drawn(0.25, limited)],
      ['answered', await drawn(0.75, answered)],
    ] as const)
      assert.ok(Number(width) >= BURST_PX_MIN, `${kind} in ${id}: ${String(width)} px`)
  }
})

test('in forced colors, the legend has the colors of the chart', async (t) => {
  const page = await openKeys({ forcedColors: 'active' }, t)
  for (const kind of KINDS) {
    const fill = await colorOf(page, `path.${kind}`, 'fill')
    assert.equal(await colorOf(page, `.key.${kind}`, 'background-color', '::before'), fill)
  }
})

test('in forced colors, the current filter stands out', async (t) => {
  const page = await openKeys({ forcedColors: 'active' }, t)
  await page.goto(page.url().replace('api', 'organizations'))
  await page.click('.rows a')
  const ground = (selector: string) => colorOf(page, `.filter ${selector}`, 'background-color')
  assert.notEqual(await ground('[aria-current]'), await ground(':not([aria-current])'))
})

test('in forced colors, notices differ by their icons, and the present section is underlined', async (t) => {
  const page = await openKeys({ forcedColors: 'active' }, t)
  const line = (selector: string) => colorOf(page, `nav ${selector}`, 'border-bottom-color')
  assert.notEqual(await line('[aria-current]'), await line('a:not([aria-current])'))

  const icons = new Set<string | null>()
  const readIcon = async () => {
    const icon = page.locator('main .notice .icon').first()
    const { width } = (await icon.boundingBox())!
    assert.ok(width >= 12)
    icons.add(await icon.locator('use').getAttribute('href'))
  }
  await page.context().addCookies([{ name: 'notice', value: 'email-changed.', url: page.url() }])
  await page.goto(page.url().replace('api', 'account'))
  await readIcon()
  await page.goto(page.url().replace(/account.*/, 'servers/new'))
  await page.fill('#name', 'x')
  await page.fill('#address', 'a b')
  await page.click('main summary')
  await page.fill('#slug', 'a b')
  await page.click('main .primary')
  await page.waitForSelector('.error')
  await readIcon()
  await page.goto(page.url().replace(/servers.*/, 'api?name='))
  await page.fill('#name', 'another')
  await page.click('text=Issue key')
  await page.waitForSelector('#key')
  await readIcon()
  assert.equal(icons.size, 3)
})

async function openKeys(
  options: Parameters<typeof openWindow>[2],
  t: Parameters<typeof openWindow>[0],
): Promise<Page> {
  const dashboard = await startDashboard(t)
  const { user } = await dashboard.signedIn(EMAIL)
  await fillAccount(dashboard, user.id)
  const { page } = await openWindow(t, launched(), options)
  await signIn(page, dashboard, EMAIL)
  return page
}

async function colorOf(page: Page, selector: string, property: string, pseudo = '') {
  const read = `getComputedStyle(document.querySelector('${selector}'), '${pseudo}').getPropertyValue('${property}')`
  return String(await page.evaluate(read))
}

/** The contrast of two colors such as `rgb(0, 0, 0)`, as WCAG defines it. */
function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (high! + 0.05) / (low! + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = color.match(/\d+/g)!.map((part) => {
    const share = Number(part) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/**
 * How many pixels of this color a row of a picture has. A pixel on an edge mixes the color with the
 * ground and counts by its share.
 */
const READ_WIDTH = `async ({ picture, at, color, ground }) => {
  const image = new Image()
  image.src = 'data:image/png;base64,' + picture
  await image.decode()
  const { width, height } = image
  const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, Math.floor(height * at), width, 1)
  const [full, none] = [color, ground].map((one) => one.match(/\\d+/g).map(Number))
  const way = full.map((part, index) => part - none[index])
  const shareOf = (pixel) =>
    way.reduce((sum, part, index) => sum + part * (pixel[index] - none[index]), 0)
    / way.reduce((sum, part) => sum + part * part, 0)
  const shares = Array.from({ length: width }, (_, x) => shareOf(data.subarray(4 * x, 4 * x + 3)))
  return shares.filter((share) => share > 0.1).reduce((sum, share) => sum + share, 0)
}`
