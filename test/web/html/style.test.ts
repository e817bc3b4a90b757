import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { filesBelow } from '../../fixtures/tree.ts'

/*
 * The style sheet and the script, as browsers get them.
 */

const STYLE_BYTES_MAX = 16_000

test('the style sheet has at most 16 kB', async (t) => {
  const { visitor } = await startDashboard(t)
  const { body } = await visitor().get('/sign-in')
  const path = /href="(\/assets\/style-[^"]+)"/.exec(body)![1]!
  const bytes = Buffer.byteLength((await visitor().get(path)).body)
  t.diagnostic(`${bytes} bytes`)
  assert.ok(bytes <= STYLE_BYTES_MAX, `${bytes} bytes`)
})

test('the served style sheets have each string of their sources', async (t) => {
  const { visitor } = await startDashboard(t)
  const linked = (await visitor().get('/docs')).body.matchAll(/href="(\/assets\/[^"]+\.css)"/g)
  const sheets = await Promise.all([...linked].map(([, path = '']) => visitor().get(path)))
  assert.equal(sheets.length, 2)
  const body = sheets.map((sheet) => sheet.body).join('')
  for (const { text } of filesBelow('src/web/html/assets/style', '.css'))
    for (const [string] of text.matchAll(/"[^"]*"/g)) assert.ok(body.includes(string), string)
})

test('the served scripts have each string and each regular expression of their sources', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const issued = await person.post('/dashboard/api', { name: 'bot', form: 'f' })
  const pages = issued.body + (await person.get('/dashboard/api')).body
  const sources = filesBelow('src/web/html/assets', '.js')
  assert.equal(sources.length, 2)
  for (const { path: source, text } of sources) {
    const name = basename(source, '.js')
    const path = new RegExp(`src="(/assets/${name}-[^"]+)"`).exec(pages)![1]!
    const { body } = await person.get(path)
    const code = text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, '')
    const literals = code.match(/'[^'\n]*'|`[^`]*`|(?<=[(?:] ?)\/[^/\n ]+\/[a-z]*/g)!
    assert.ok(literals.length >= 3, `${name}: ${literals.length}`)
    for (const literal of literals) assert.ok(body.includes(literal), literal)
  }
})

test('colors and sizes stand in the tokens only', () => {
  for (const { path, text } of filesBelow('src/web/html/assets/style', '.css')) {
    if (path.endsWith('/tokens.css')) continue
    const rules = text.replace(/@media [^{]*/g, '')
    assert.deepEqual(
      rules.match(/[\d.]+(?:px|rem)\b|#[0-9a-f]{3,8}\b|\brgb|\bhsl|\boklch/g),
      null,
      path,
    )
  }
})

test('nothing moves, so that no user has to ask for less motion', () => {
  for (const { path, text } of filesBelow('src/web/html/assets', '.css'))
    assert.doesNotMatch(text, /transition|animation|@keyframes|scroll-behavior/, path)
})
