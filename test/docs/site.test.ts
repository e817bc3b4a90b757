import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildSite } from '../../scripts/site/build.ts'
import { groupPaths } from '../../scripts/site/navigation.ts'
import { pathOfPage } from '../../scripts/site/page.ts'
import { readDocument, renderDocument } from '../../scripts/site/markdown.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { filesBelow } from '../fixtures/tree.ts'
import { pagesBelow } from './built-pages.ts'

/*
 * The site that `npm run site` makes from the documents.
 */

test('every link of the site leads to a file of it, and every anchor to an element', (t) => {
  const { folder, pages } = build(t)
  for (const [path, text] of pages)
    for (const [, target = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (target.startsWith('https://')) continue
      assert.doesNotMatch(target, /^\/|^[a-z]+:/, `${path} opens only from a server`)
      const [file = '', anchor] = target.split('#')
      const found = file === '' ? path : normalize(join(dirname(path), decodeURI(file)))
      assert.ok(existsSync(join(folder, found)), `${path} links to ${target}`)
      assert.match(found, /\.(html|css|svg|webp)$/, `${path} links to ${target}`)
      if (anchor !== undefined)
        assert.ok(pages.get(found)?.includes(` id="${anchor}"`), `${path} links to ${target}`)
    }
})

test('no page loads anything from elsewhere, and none has a script', (t) => {
  const { folder, pages } = build(t)
  for (const [path, text] of pages) {
    assert.doesNotMatch(text, /<script|<iframe|<style|src="https?:|<link[^>]*href="https?:/, path)
    assert.doesNotMatch(text, / on[a-z]+="|="javascript:/, path)
  }
  assert.doesNotMatch(readFileSync(join(folder, 'style.css'), 'utf8'), /@import|url\(/)
})

test('every document has a page, and the navigation of each page has each page once', (t) => {
  const { pages } = build(t)
  for (const { path } of filesBelow('docs', '.md')) assert.ok(pages.has(pathOfPage(path)), path)
  for (const path of ['index.html', 'CHANGELOG.html', 'docs/api.html', 'deploy/nginx.conf.html'])
    assert.ok(pages.has(path), path)
  for (const [path, text] of pages) {
    const navigation = /<nav id="pages".*?<\/nav>/s.exec(text)![0]
    const linked = [...navigation.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) =>
      normalize(join(dirname(path), href === '' ? path : href)),
    )
    assert.deepEqual(linked.toSorted(), [...pages.keys()].toSorted(), path)
    assert.equal(navigation.split(' aria-current="page"').length, 2, path)
    assert.equal(text.split('<h1 ').length, 2, path)
  }
})

test('a page that no group of the navigation names is still in it', () => {
  const groups = groupPaths(['README.md', 'docs/new.md', 'docs/operations/new.md', 'src/a.ts'])
  assert.deepEqual(groups, [
    { title: 'Start', paths: ['README.md'] },
    { title: 'Operate', paths: ['docs/operations/new.md'] },
    { title: 'Look up', paths: ['docs/new.md'] },
    { title: 'Files', paths: ['src/a.ts'] },
  ])
})

test('text and code of a document are escaped, comments left out, and HTML is refused', () => {
  const text =
    '# A & B\n\n<!-- not run: x -->\n\n`<b>` [c](d.md "e")\n\n```sh\na < b\n```\n\n| `x` | y |\n|---|---|\n| a \\| b | <c> |\n'
  assert.throws(() => render(text), /a\.md has HTML: <c>/)
  assert.equal(
    render(text.replace('<c>', '2')).replaceAll('\n', ''),
    [
      '<h1 id="a--b">A &amp; B</h1>',
      '<p><code>&lt;b&gt;</code> <a href="to-d.md">c</a></p>',
      '<pre tabindex="0"><code>a &lt; b</code></pre>',
      '<div class="table" tabindex="0" role="group" aria-label="Table: x, y"><table><thead><tr><th scope="col"><code>x</code></th><th scope="col">y</th></tr></thead>',
      '<tbody><tr><td>a | b</td><td>2</td></tr></tbody></table></div>',
    ].join(''),
  )
})

function build(t: TestContext): { folder: string; pages: Map<string, string> } {
  const folder = temporaryFolder(t)
  const count = buildSite(folder)
  const pages = pagesBelow(folder)
  assert.equal(pages.size, count)
  assert.ok(count > 60, `${count} pages`)
  return { folder, pages }
}

function render(markdown: string): string {
  return renderDocument(readDocument('a.md', markdown), (target) => `to-${target}`)
}
