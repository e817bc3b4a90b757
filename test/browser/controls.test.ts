import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboard } from '../fixtures/dashboard.ts'
import { forEachState } from './states/visit.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * What holds for the controls of every page in every state.
 */

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
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

const launched = launchForFile()

test('on every page, each control has a name of its own', async (t) => {
  await forEachState(t, launched(), {}, async (page, title) => {
    const seen = new Map<string, string>()
    for (const { name, leadsTo } of await namesOfControls(page)) {
      assert.notEqual(name, '', title)
      const isAnother = seen.has(name) && (leadsTo === '' || seen.get(name) !== leadsTo)
      assert.ok(!isAnother, `${title}: two controls are called ${name}`)
      seen.set(name, leadsTo)
    }
  })
})

test('every page has one main heading and its landmarks, and its live regions leave out what has the focus', async (t) => {
  await forEachState(t, launched(), {}, async (page, title) => {
    const found = await page.evaluate(`[
      ...['h1', 'main', 'body > header'].map((one) => document.querySelectorAll(one).length),
      document.activeElement.closest('[role=alert], [role=status], [aria-live]')?.outerHTML ?? '',
      [...document.querySelectorAll('[role=alert], [role=status], [aria-live]')]
        .filter((one) => one.textContent !== '' && one.id !== 'arrival').length < 2,
    ]`)
    assert.deepEqual(found, [1, 1, 1, '', true], title)
  })
})

test('a screen reader hears once that a text is copied, and that a name is too long', async (t) => {
  const dashboard = await startDashboard(t)
  await dashboard.signedIn('ada@example.com')
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page } = await openWindow(t, launched(), { permissions })
  await signIn(page, dashboard, 'ada@example.com')
  const said = page.locator('main > [role=status]')
  await page.fill('#name', 'n'.repeat(64))
  assert.equal(await said.textContent(), '')
  await page.fill('#name', 'n'.repeat(65))
  assert.equal(await said.textContent(), 'At most 64 characters')
  await page.fill('#name', 'bot')
  assert.equal(await said.textContent(), '')

  await page.click('text=Issue key')
  const button = page.getByRole('button', { name: 'Copy: API key' })
  await button.click()
  await said.filter({ hasText: 'Copied' }).waitFor({ state: 'attached' })
  assert.equal(await button.textContent(), 'Copied: API key')
})

test('on a phone, every control has 44 px in each direction', async (t) => {
  await forEachState(t, launched(), { window: PHONE }, async (page, title) => {
    assert.deepEqual(await page.evaluate(FIND_SMALL), [], title)
  })
})

test('on a phone without script, no control waits for one, what opens has a triangle, and links in text are underlined', async (t) => {
  await forEachState(t, launched(), { window: PHONE, withoutScript: true }, async (page, title) => {
    assert.deepEqual(await page.evaluate(FIND_UNSEEN), [], title)
  })
})

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
