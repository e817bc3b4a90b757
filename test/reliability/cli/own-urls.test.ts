import assert from 'node:assert/strict'
import { test } from 'node:test'
import { personAt } from '../../fixtures/person.ts'
import { ask } from '../../fixtures/requests.ts'
import { shownSnippets } from '../../keys/pages/pasted-blocks.ts'
import type { ProcessOptions } from '../../cli/process.ts'
import { type Program, programIn } from '../../cli/program.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery staple'
const URL_IN_QUOTES = /["'](https?:[^"']*)["']/

/**
 * Starts the service, issues a key in the dashboard, and reads the key and the URL on its page. The
 * programs in all languages must name the same URL.
 */
async function issue(program: Program, options: ProcessOptions) {
  await program.done(`user add ${EMAIL} --password-stdin --create`, { stdin: PASSWORD })
  const served = await program.serve(options)
  const line = /dashboard at http:\/\/[^\s"]*:(\d+)/
  await served.written(line)
  const person = personAt(Number(line.exec(served.stdout())?.[1]))
  await person.signIn(EMAIL, PASSWORD)
  const form = /name="form" value="([^"]+)"/.exec((await person.get('/dashboard/api')).body)?.[1]
  const { body } = await person.post('/dashboard/api', { form: form!, name: 'bot' })
  const key = /svc_live_[0-9a-f]{64}/.exec(body)?.[0]
  assert.ok(key !== undefined, body)
  const programs = shownSnippets(body, 'language').map(({ blocks }) => blocks[0]!.code)
  assert.equal(programs.length, 5, body)
  const urls = programs.map((program) => URL_IN_QUOTES.exec(program)?.[1])
  assert.deepEqual(urls, Array(5).fill(urls[0]))
  return { key, url: urls[0]!, port: served.port }
}

test('the page of a new key names the port that the API got', async (t) => {
  const { key, url, port } = await issue(programIn(t), {})
  assert.equal(url, `http://127.0.0.1:${port}/v1/servers`)
  assert.equal((await ask(Number(new URL(url).port), { key })).status, 200)
})

test('the page of a new key names an address to connect to if HOST is every address', async (t) => {
  const { url, port } = await issue(programIn(t), { env: { HOST: '0.0.0.0' } })
  assert.equal(url, `http://127.0.0.1:${port}/v1/servers`)
})

test('the page of a new key names BASE_URL if it is set', async (t) => {
  const { url } = await issue(programIn(t), { env: { BASE_URL: 'https://api.example.com/' } })
  assert.equal(url, 'https://api.example.com/v1/servers')
})
