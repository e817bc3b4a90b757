import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { renderMarkdown } from '../../../src/dashboard/docs/markdown.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'

/*
 * The documentation of the API in the dashboard, which needs no account.
 */

const URLS = { baseUrl: 'https://api.example.org', dashboardUrl: 'https://list.example.org' }

const PAGES = {
  '': 'api.md',
  '/guide': 'integrators.md',
  '/clients': 'clients.md',
  '/questions': 'faq.md',
}

for (const [path, file] of Object.entries(PAGES))
  test(`the page of docs/${file} has the whole document, with the URL of this installation`, async (t) => {
    const { visitor } = await startDashboard(t, URLS)
    const { status, body } = await visitor().get(`/docs${path}`)
    assert.equal(status, 200)
    const prose = body.replace(/<pre.*?<\/pre>/gs, '')
    assert.doesNotMatch(prose, /```|\*\*|\]\(|^\| |<!--|^\d\. /m)
    assert.doesNotMatch(body, /127\.0\.0\.1:808/)
    const document = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')
    const text = wordsOf(body.replace(/<[^>]+>/g, ' ').replaceAll('&quot;', '"'))
    const [, ...sections] = document.split(/^(?=## )/m)
    assert.ok(sections.length > 2)
    const rest = sections.join('').replaceAll(/\]\([^)]+\)|<!--.*-->|^ *```\w*|^\d+\. /gm, '')
    const localized = rest
      .replaceAll('http://127.0.0.1:8080', URLS.baseUrl)
      .replaceAll('http://127.0.0.1:8081', URLS.dashboardUrl)
    for (const word of wordsOf(localized)) assert.ok(text.has(word), `the page lacks "${word}"`)
  })

test('a program gets the OpenAPI document with the URL of this installation, without a session', async (t) => {
  const { visitor } = await startDashboard(t, URLS)
  const { status, headers, body } = await visitor().get('/docs/openapi.json')
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  // Tools in a browser load it. No other page is open to them.
  assert.equal(headers['access-control-allow-origin'], '*')
  assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
  const page = await visitor().get('/docs')
  assert.equal(page.headers['access-control-allow-origin'], undefined)
  assert.equal(page.headers['cross-origin-resource-policy'], 'same-origin')
  const served = JSON.parse(body)
  assert.equal(served.servers[0].url, URLS.baseUrl)
  const document = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')
  served.servers[0].url = 'http://127.0.0.1:8080'
  assert.deepEqual(served, JSON.parse(document))
  assert.match((await visitor().get('/docs/guide')).body, /href="\/docs\/openapi\.json"/)
})

test('the pages link to each example, and everyone gets its bytes', async (t) => {
  const { visitor } = await startDashboard(t)
  const pages = ['/docs/guide', '/docs/clients'].map((path) => visitor().get(path))
  const body = (await Promise.all(pages)).map((page) => page.body).join('')
  const folder = new URL('../../../docs/examples/', import.meta.url)
  for (const file of readdirSync(folder)) {
    assert.ok(body.includes(`href="/docs/examples/${file}"`), file)
    const answer = await visitor().get(`/docs/examples/${file}`)
    assert.equal(answer.body, readFileSync(new URL(file, folder), 'utf8'))
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
  }
})

test('the pages name each answer with what to do, the limit and a client in each language', async (t) => {
  const { visitor } = await startDashboard(t)
  const { body } = await visitor().get('/docs')
  const [, ...answers] = body.split(/<h3 id="(?=\d)/)
  const statuses = new Set(answers.map((answer) => Number.parseInt(answer, 10)))
  assert.deepEqual(statuses, new Set([200, 204, 401, 404, 429, 502, 503, 400, 408, 414, 431, 505]))
  for (const answer of answers) assert.match(answer, /<strong>What to do\.<\/strong> \w/)
  assert.match(body, /one request per second/)
  const clients = (await visitor().get('/docs/clients')).body
  for (const id of ['curl', 'javascript', 'python', 'php', 'powershell'])
    assert.ok(clients.includes(`<pre id="${id}"`), id)
})

test('each link between the pages leads to a page and a heading', async (t) => {
  const { signedIn, visitor } = await startDashboard(t, { siteUrl: 'https://www.example.org' })
  const paths = Object.keys(PAGES).map((path) => `/docs${path}`)
  const bodies = new Map<string, string>()
  for (const path of paths) bodies.set(path, (await visitor().get(path)).body)
  for (const [path, body] of bodies) {
    for (const other of paths) assert.ok(body.includes(`href="${other}"`), `${path}: ${other}`)
    for (const [, target = '', id] of body.matchAll(/href="(\/docs[^"#]*)?#([\w-]+)"/g)) {
      const linked = bodies.get(target === '' ? path : target)
      assert.ok(linked?.includes(`id="${id}"`), `${path} links to ${target}#${id}`)
    }
  }
  assert.ok(bodies.get('/docs')!.includes('id="the-rate-limit"'))
  const { person } = await signedIn()
  for (const path of ['/dashboard/api', '/dashboard/start'])
    assert.match((await person.get(path)).body, /href="\/docs"/)
})

test('visitors find the documents from the page to sign in', async (t) => {
  const { signedIn, visitor } = await startDashboard(t)
  assert.match((await visitor().get('/sign-in')).body, /href="\/docs">API documentation</)
  assert.match((await visitor().get('/docs')).body, /href="\/sign-in".*Sign in</)
  const { person } = await signedIn()
  const { body } = await person.get('/docs/guide')
  assert.match(body, /<a href="\/docs" aria-current="page">/)
  assert.match(body, /Your API keys/)
})

test('the list of contents has each section of the page, under the name of its heading', async (t) => {
  const { visitor } = await startDashboard(t)
  for (const path of Object.keys(PAGES)) {
    const { body } = await visitor().get(`/docs${path}`)
    const [, contents = ''] = /<nav aria-label="On this page">(.*?)<\/nav>/s.exec(body)!
    const listed = [...contents.matchAll(/<a href="#([\w-]+)">(.*?)<\/a>/g)]
    const shown = [...body.matchAll(/<h2 id="([\w-]+)">(?:<a [^>]*><\/a>)?(.*?)<\/h2>/g)]
    assert.ok(listed.length > 2)
    assert.deepEqual(
      listed.map(([, id, label]) => [id, label]),
      shown.map(([, id, label]) => [id, label]),
    )
  }
})

test('each block of code has a button that copies it, which only a script shows', async (t) => {
  const { visitor } = await startDashboard(t)
  for (const path of Object.keys(PAGES)) {
    const { body } = await visitor().get(`/docs${path}`)
    const blocks = [...body.matchAll(/<pre id="([\w-]+)"/g)].map(([, id]) => id)
    const buttons = [...body.matchAll(/<button [^>]*data-copy="([\w-]+)" hidden>/g)]
    assert.equal(body.match(/<pre/g)?.length ?? 0, blocks.length)
    assert.deepEqual(
      buttons.map(([, id]) => id),
      blocks,
    )
  }
})

test('the pages name other documents by their subject, not by their file', async (t) => {
  const { visitor } = await startDashboard(t)
  for (const path of Object.keys(PAGES)) {
    const { body } = await visitor().get(`/docs${path}`)
    assert.doesNotMatch(body.replace(/<pre.*?<\/pre>/gs, '').replace(/<[^>]+>/g, ''), /\w\.md\b/)
  }
})

test('Markdown is escaped, and blocks may stand in a list', () => {
  const { html } = renderMarkdown(
    '# A <b>\n\nOne\ntwo **three** `<four>`.\n\n- five\n  six\n- seven:\n\n  ```\n  <8>\n  ```\n\n| a | `b` |\n|---|---|\n| 1 | "2" |',
  )
  assert.equal(
    words(html).replaceAll(/ aria-hidden="true" tabindex="-1"|<button.*?<\/button>/g, ''),
    [
      '<h1 id="a-b">A &lt;b&gt;</h1>',
      '<p>One two <strong>three</strong> <code>&lt;four&gt;</code>.</p>',
      '<ul> <li><p>five six</p> </li>',
      '<li><p>seven:</p> <div class="code"><div><span id="block-1-label" class="hint">Output<span class="unseen">, block 1</span></span></div> <pre id="block-1" tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="block-1-label" translate="no">&lt;8&gt;</pre></div> </li> </ul>',
      '<div class="table" tabindex="0" role="region" aria-label="Table: a, b"><table><thead><tr><th scope="col">a</th><th scope="col"><code>b</code></th></tr></thead>',
      '<tbody><tr><td>1</td><td>&quot;2&quot;</td></tr></tbody></table></div>',
    ].join(' '),
  )
})

test('a numbered list, a comment and a link to another document', () => {
  const { html } = renderMarkdown(
    '1. one\n   two\n2. three\n\n<!-- four -->\n\n[five](five.md) [six](six.md#seven) <i>',
    (target) => (target === 'five.md' ? null : `/${target}`),
  )
  assert.equal(
    words(html),
    '<ol> <li>one two</li> <li>three</li> </ol> <p>five <a href="/six.md#seven">six</a> &lt;i&gt;</p>',
  )
})

const words = (rendered: string): string => rendered.trim().replaceAll(/\n+/g, ' ')

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/[\p{L}\d]+/gu))
}
