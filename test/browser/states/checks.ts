import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/*
 * What holds for every page in every state. Each check fails with the title of the state.
 */

export type Check = (page: Page, title: string) => Promise<void>

/** From phones to a whole screen. 640 px are also 1280 px at a zoom of 200 %. */
export const WIDTHS = [320, 390, 640, 769, 820, 900, 1024, 1280, 1440]
/** Pixels from the center of a control that still belong to it: 44 px in all. */
const REACH = 21.5

const CONTROLS = new Set([
  'button',
  'checkbox',
  'combobox',
  'DisclosureTriangle',
  'DisclosureTriangleGrouped',
  'link',
  'searchbox',
  'textbox',
])

/** Other colors change the result of this rule alone. */
const COLOR_RULE = 'color-contrast'
const OTHER_COLORS = [
  ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
  ['forced colors', { colorScheme: 'light', forcedColors: 'active' }],
] as const

/** axe finds nothing. */
export const accessible: Check = async (page, title) => {
  await page.evaluate(axe.source)
  await assertAccessible(page, title)
}

/** axe finds nothing in light, dark and forced colors. */
export const accessibleInEachColor: Check = async (page, title) => {
  await accessible(page, title)
  for (const [name, colors] of OTHER_COLORS) {
    await page.emulateMedia(colors)
    await assertAccessible(page, `${title}, ${name}`, [COLOR_RULE])
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
}

/** Each control has a name of its own. */
export const named: Check = async (page, title) => {
  const seen = new Map<string, string>()
  for (const { name, leadsTo } of await namesOfControls(page)) {
    assert.notEqual(name, '', title)
    const isAnother = seen.has(name) && (leadsTo === '' || seen.get(name) !== leadsTo)
    assert.ok(!isAnother, `${title}: two controls are called ${name}`)
    seen.set(name, leadsTo)
  }
}

/** One main heading, the landmarks, and no live region around what has the focus. */
export const marked: Check = async (page, title) => {
  const found = await page.evaluate(`[
    ...['h1', 'main', 'body > header'].map((one) => document.querySelectorAll(one).length),
    document.activeElement.closest('[role=alert], [role=status], [aria-live]')?.outerHTML ?? '',
    [...document.querySelectorAll('[role=alert], [role=status], [aria-live]')]
      .filter((one) => one.textContent !== '').length < 2,
  ]`)
  assert.deepEqual(found, [1, 1, 1, '', true], title)
}

/** Each control has 44 px in each direction. */
export const reachable: Check = async (page, title) => {
  assert.deepEqual(await page.evaluate(FIND_SMALL), [], title)
}

/** No control waits for a script, what opens has a triangle, and links in text are underlined. */
export const plain: Check = async (page, title) => {
  assert.deepEqual(await page.evaluate(FIND_UNSEEN), [], title)
}

/** No page, table or control is wider than its place. */
export const narrow: Check = async (page, title) => {
  assert.deepEqual(await page.evaluate(findWide(`${TEXTS}, .table`)), [], title)
}

/** With text of twice the size, no page is wider than the window. */
export const narrowIfEnlarged: Check = async (page, title) => {
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
  assert.deepEqual(await page.evaluate(findWide(TEXTS)), [], title)
}

/** No word that fits on a line is broken. */
export const unbroken: Check = async (page, title) => {
  assert.deepEqual(await page.evaluate(FIND_BROKEN), [], title)
}

/** Makes the check in windows of every kind. */
export function atEachWidth(check: Check): Check {
  return async (page, title) => {
    const before = page.viewportSize()!
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      await check(page, `${title} at ${width} px`)
    }
    await page.setViewportSize(before)
  }
}

/** Asks axe for what breaks these rules, or any of its rules. The page must contain axe. */
async function assertAccessible(page: Page, where: string, rules?: string[]): Promise<void> {
  const options = {
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: rules }),
  }
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(
    ({ violations }) => violations.map(({ id, nodes }) =>
      id + ': ' + nodes[0].html + ' ' + nodes[0].failureSummary))`)
  assert.deepEqual(found, [], where)
}

/** The names that a screen reader says, and where links lead. Two to one page may have one name. */
async function namesOfControls(page: Page): Promise<{ name: string; leadsTo: string }[]> {
  const devtools = await page.context().newCDPSession(page)
  const { nodes } = await devtools.send('Accessibility.getFullAXTree')
  await devtools.detach()
  return nodes
    .filter(({ ignored, role }) => !ignored && CONTROLS.has(String(role?.value)))
    .map(({ name, properties }) => ({
      name: String(name?.value ?? ''),
      leadsTo: String(properties?.find((one) => one.name === 'url')?.value.value ?? ''),
    }))
}

/** Links within a sentence may be as small as its letters (WCAG 2.5.8). */
const FIND_SMALL = `(() => {
  const reach = ${REACH}
  const small = []
  for (const control of document.querySelectorAll('a, button, input, select, textarea, summary')) {
    if (!control.checkVisibility() || control.closest('.skip, .unseen')) continue
    const isInText = control.matches('a') && control.closest('p, li > div, .prose li, dd, td, th') !== null
    if (isInText && getComputedStyle(control).display === 'inline') continue
    control.scrollIntoView({ block: 'center', inline: 'center' })
    const box = control.getBoundingClientRect()
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    const reached = (dx, dy) => {
      const hit = document.elementFromPoint(x + dx, y + dy)
      return hit !== null && (control.contains(hit) || hit.closest('label')?.control === control)
    }
    const isReached = (box.width >= 2 * reach || (reached(-reach, 0) && reached(reach, 0)))
      && (box.height >= 2 * reach || (reached(0, -reach) && reached(0, reach)))
    if (!isReached) small.push(box.width + ' x ' + box.height + ': ' + control.outerHTML.slice(0, 120))
  }
  return small.slice(0, 8)
})()`

/**
 * Controls that do not look like what they do, and paragraphs whose words a flexible box sets
 * apart.
 */
const FIND_UNSEEN = `(() => {
  const styleOf = (one) => getComputedStyle(one)
  const hasText = (one) => [...one.childNodes].some((node) =>
    node.nodeType === Node.TEXT_NODE && node.data.trim() !== '')
  const isWrong = (one) => one.hidden ? true
    : one.matches('summary') ? styleOf(one).display !== 'list-item'
    : one.matches('p') ? styleOf(one).display === 'flex' && hasText(one) && one.children.length > 0
    : hasText(one.parentElement) && styleOf(one).textDecorationLine !== 'underline'
  return [...document.querySelectorAll('main :is(summary, p, a), [hidden]')]
    .filter((one) => one.checkVisibility() && isWrong(one))
    .map((one) => one.outerHTML.slice(0, 160))
})()`

/** What must have room for all of its text. With text of twice the size, tables may scroll. */
const TEXTS = 'body, a, button, label, p, summary'

/** What the window cuts off, and which of these boxes are too narrow. */
const findWide = (boxes: string) => `(() => {
  const skipped = 'pre, .unseen, thead, .table *, .menu summary'
  const wide = [...document.querySelectorAll('body, body *')].filter((one) =>
    one.checkVisibility() && one.closest(skipped) === null && (
      one.getBoundingClientRect().right > innerWidth + 1
      || (one.matches('${boxes}') && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)))
  return wide.slice(0, 4).map((one) => one.outerHTML.slice(0, 200))
})()`

/**
 * Words on two lines. A word that takes more than half of the page may need that. A line may end
 * behind a hyphen.
 */
const FIND_BROKEN = `(() => {
  const half = document.querySelector('main').clientWidth / 2
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  const broken = []
  while (texts.nextNode()) {
    const { currentNode: text } = texts
    if (!text.parentElement.checkVisibility() || text.parentElement.closest('.unseen, option')) continue
    for (const { 0: word, index } of text.data.matchAll(/[^\\s\\-]+/g)) {
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      const pieces = [...range.getClientRects()].filter(({ width }) => width > 0)
      const width = pieces.reduce((sum, piece) => sum + piece.width, 0)
      const isBroken = pieces.some(({ top, height }) => top > pieces[0].top + height / 2)
      if (isBroken && width <= half) broken.push(word)
    }
  }
  return broken.slice(0, 8)
})()`
