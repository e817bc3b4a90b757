import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import axe from 'axe-core'
import { buildSite } from '../../../scripts/site/build.ts'
import { pagesBelow } from '../../docs/built-pages.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { launchForFile, openWindow } from '../tab.ts'

/*
 * The site made from the documents, opened from the file system.
 */

/** One of each kind: prose, a guide, tables, figures, a file, a list of a folder. */
const KINDS = [
  'index.html',
  'docs/operations/install.html',
  'docs/api.html',
  'docs/performance.html',
  'deploy/nginx.conf.html',
  'deploy/systemd/index.html',
]

const launched = launchForFile()

test('axe finds nothing on any kind of page, in light and dark', async (t) => {
  const folder = temporaryFolder(t)
  buildSite(folder)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await openWindow(t, launched(), { colorScheme })
    for (const path of KINDS) {
      await page.goto(pathToFileURL(join(folder, path)).href)
      await page.evaluate(axe.source)
      const found = await page.evaluate(
        `axe.run(document, { preload: false }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      )
      assert.deepEqual(found, [], `${path} in ${colorScheme}`)
    }
  }
})

test('without script, no page is wider than 320 px, lacks an image or says something', async (t) => {
  const folder = temporaryFolder(t)
  buildSite(folder)
  const { page } = await openWindow(t, launched(), {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 640 },
  })
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // A browser may ask for the icon so late that the next page ends the request.
    if (reason !== 'net::ERR_ABORTED') said.push(`failed: ${request.url()} ${reason}`)
  })
  for (const path of pagesBelow(folder).keys()) {
    await page.goto(pathToFileURL(join(folder, path)).href)
    const wide = await page.evaluate(`(() => {
      const all = [...document.querySelectorAll('body *')].filter(
        (one) => one.checkVisibility() && one.closest('.table, pre, .skip') === null)
      const one = all.find((each) => each.getBoundingClientRect().right > innerWidth + 1)
      return document.documentElement.scrollWidth > innerWidth ? (one ?? document.body).outerHTML.slice(0, 200) : ''
    })()`)
    assert.equal(wide, '', path)
  }
  assert.deepEqual(said, [])
})

test('a reader goes from the first page to a section and on to the next page', async (t) => {
  const folder = temporaryFolder(t)
  buildSite(folder)
  const { page } = await openWindow(t, launched(), { viewport: { width: 1280, height: 800 } })
  await page.goto(pathToFileURL(join(folder, 'index.html')).href)
  await page.click('nav#pages >> text="The dashboard"')
  await page.waitForURL(/docs\/dashboard\.html$/)
  await page.click('aside >> text="Public pages"')
  await page.waitForURL(/#public-pages$/)
  const heading = page.locator('h2#public-pages')
  await heading.waitFor()
  const box = await heading.boundingBox()
  assert.ok(box!.y > 0 && box!.y < 200, `${box!.y} px from the top`)
  await page.click('.neighbors >> text=Next')
  await page.waitForURL(/docs\/operations\/index\.html$/)
})
