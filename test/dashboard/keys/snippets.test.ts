import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snippetsFor } from '../../../src/dashboard/keys/snippets.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { runSnippets } from './run-snippets.ts'

test('each snippet waits for the second after a 429 and then prints the servers', async (t) => {
  const ran = await runSnippets(t)
  t.diagnostic(`runs ${ran.join(', ')}`)
  assert.ok(ran.includes('javascript'))
})

test('each snippet reads the key from the environment and names the API’s URL', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.post('/dashboard/api', { form: 'f', name: 'bot' })
  const labels = [...body.matchAll(/<summary>([^<]+)<\/summary>/g)].map(([, label]) => label)
  assert.deepEqual(labels, ['curl', 'JavaScript', 'Python', 'PHP', 'PowerShell'])
  for (const { id } of snippetsFor('https://api.example.com')) {
    const code = new RegExp(`<pre id="${id}"[^>]*>([^]*?)</pre>`).exec(body)?.[1] ?? ''
    assert.match(code, /SERVER_LISTING_KEY/)
    // The client of the package adds the path itself.
    const url = /https:\/\/api\.example\.com(\/v1\/servers)?/.exec(code)
    assert.equal(url?.[1], id === 'javascript' ? undefined : '/v1/servers', id)
  }
  assert.match(body, /one request per second/)
})

test('a URL with quotes and dollars ends no string of any language', () => {
  for (const { code } of snippetsFor(`https://api.example.com/a'b"c$d\\e\`f`))
    assert.match(code, /api\.example\.com\/a%27b%22c%24d\/e%60f/)
})

test('the snippet with the client allows plain HTTP only where the API has no HTTPS', () => {
  assert.ok(allowsPlainHttp('http://listing:8080'))
  for (const url of ['https://api.example.com', 'http://localhost:8080', 'http://127.0.0.1:8080'])
    assert.ok(!allowsPlainHttp(url), url)
})

function allowsPlainHttp(url: string): boolean {
  const { code } = snippetsFor(url).find(({ id }) => id === 'javascript')!
  return code.includes('allowInsecureHttp: true,')
}
