import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { renderMarkdown } from '../../../src/dashboard/docs/markdown.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'

/*
 * The documentation of the API in the dashboard.
 */

test('the page has the whole document, with the URL of this installation', async (t) => {
  const { signedIn } = await startDashboard(t, { baseUrl: 'https://api.example.org' })
  const { person } = await signedIn()
  const { status, body } = await person.get('/dashboard/docs')
  assert.equal(status, 200)
  assert.match(body, /curl -i https:\/\/api\.example\.org\/v1\/servers/)
  assert.doesNotMatch(body, /BASE_URL|```|\*\*|\]\(|^\| /m)
  const document = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
  const text = wordsOf(body.replace(/<[^>]+>/g, ' ').replaceAll('&quot;', '"'))
  const [, ...sections] = document.split(/^(?=## )/m)
  assert.ok(sections.length > 5)
  const words = wordsOf(sections.join('').replaceAll('BASE_URL', 'https://api.example.org'))
  for (const word of words) assert.ok(text.has(word), `the page lacks "${word}"`)
})

test('the page names each error with what to do, the limit and a client in each language', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.get('/dashboard/docs')
  const rows = [...body.matchAll(/<tr><td>(\d{3})<\/td>(?:<td>.*?<\/td>)*<td>(.+?)<\/td><\/tr>/g)]
  const statuses = new Set(rows.map(([, status]) => Number(status)))
  assert.deepEqual(statuses, new Set([401, 404, 429, 502, 503, 400, 408, 414, 431, 505]))
  for (const [, status, advice = ''] of rows) assert.match(advice, /\.$/, `advice for ${status}`)
  assert.match(body, /one request per second/)
  for (const id of ['curl', 'javascript', 'python', 'php', 'powershell'])
    assert.ok(body.includes(`<pre id="${id}"`), id)
})

test('each link within the page leads to a heading, and other pages link to the limit', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.get('/dashboard/docs')
  const targets = [...body.matchAll(/href="#([\w-]+)"/g)].map(([, id]) => id)
  for (const id of [...targets, 'the-rate-limit']) assert.ok(body.includes(`id="${id}"`), id)
  for (const path of ['api', 'start'])
    assert.match((await person.get(`/dashboard/${path}`)).body, /href="\/dashboard\/docs"/)
})

test('Markdown is escaped, and blocks may stand in a list', () => {
  const rendered = renderMarkdown(
    '# A <b>\n\nOne\ntwo **three** `<four>`.\n\n- five\n  six\n- seven:\n\n  ```\n  <8>\n  ```\n\n| a | `b` |\n|---|---|\n| 1 | "2" |',
  )
  assert.equal(
    rendered.replaceAll('\n', ' '),
    [
      '<h1 id="a-b">A &lt;b&gt;</h1>',
      '<p>One two <strong>three</strong> <code>&lt;four&gt;</code>.</p>',
      '<ul><li><p>five six</p></li>',
      '<li><p>seven:</p> <div class="code"><pre tabindex="0">&lt;8&gt;</pre></div></li></ul>',
      '<div class="table" tabindex="0" role="region" aria-label="Table: a, b"><table><thead><tr><th scope="col">a</th><th scope="col"><code>b</code></th></tr></thead>',
      '<tbody><tr><td>1</td><td>&quot;2&quot;</td></tr></tbody></table></div>',
    ].join(' '),
  )
})

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/[\p{L}\d]+/gu))
}
