import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { exchange } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Which forms the service accepts, and what happens to one whose session has ended.
 */

test('if the session ends before a form is sent, signing in leads back to its page', async (t) => {
  const { signedIn, visitor, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await recordsOf(store).endSessions(user.id, operatorAt(presentInstant()))
  const typed = { name: 'My "bot" <1>', form: 'f', password: 'secret of mine' }
  const send = (path: string, from: string) =>
    person.post(path, typed, { 'Sec-Fetch-Site': 'same-origin', Referer: from })
  const asked = await send('/dashboard/api', 'https://example.com/dashboard/servers?q=a&page=2')
  assert.equal(asked.status, 401)
  assert.match(asked.body, /Your session has ended/)
  assert.doesNotMatch(asked.body, /secret of mine|bot/)
  const signIn = async ({ body }: Answer) => {
    const next = unescaped(/name="next" value="([^"]*)"/.exec(body)?.[1] ?? '')
    const fields = { email: 'ada@example.com', password: PASSWORD, next }
    return (await visitor().post('/sign-in', fields)).headers.location
  }
  assert.equal(await signIn(asked), '/dashboard/servers?q=a&page=2')
  for (const [path, from, page] of [
    ['/dashboard/account/email', '', '/dashboard/account'],
    ['/dashboard/account/email', 'no URL', '/dashboard/account'],
    ['/dashboard/account/delete', '', '/dashboard/account/delete'],
    ['/dashboard/api', 'https://example.com/dashboard/api/leaked', '/dashboard/api'],
    ['/dashboard/api', 'https://evil.example/', '/dashboard'],
    ['/dashboard/api', 'https://evil.example//evil.example', '/dashboard'],
  ] as const) {
    const sent = await send(path, from)
    assert.doesNotMatch(sent.body, /evil/)
    assert.equal(await signIn(sent), page, `${path} from ${from}`)
  }
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 0)
})

test('signing in redirects only to pages of the dashboard', async (t) => {
  const { signedIn, visitor } = await startDashboard(t)
  await signedIn()
  const places = ['//evil.example', 'https://evil.example', '/dashboard//evil.example', '/\\evil']
  for (const next of [...places, '/dashboard/../x', '/dashboard/api\r\nX: y', '']) {
    const person = visitor()
    const fields = { email: 'ada@example.com', password: PASSWORD, next }
    assert.equal((await person.post('/sign-in', fields)).headers.location, '/dashboard', next)
  }
})

test('a form from another origin is refused, even for signing in or out', async (t) => {
  const { signedIn, visitor, store, port } = await startDashboard(t)
  const { person, user } = await signedIn()
  const foreign: Record<string, string>[] = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: `http://127.0.0.1:${port}` },
    { Origin: 'https://evil.example' },
    { Origin: `http://127.0.0.1:${port + 1}` },
    { Origin: `https://127.0.0.1:${port}` },
    { Origin: 'null' },
    {},
  ]
  for (const headers of foreign) {
    const issued = await person.post('/dashboard/api', { form: 'f', name: 'bot' }, headers)
    assert.equal(issued.status, 403, JSON.stringify(headers))
    const fields = { email: 'ada@example.com', password: PASSWORD }
    const signIn = await visitor().post('/sign-in', fields, headers)
    assert.deepEqual([signIn.status, signIn.headers['set-cookie']], [403, undefined])
    assert.equal((await person.post('/sign-out', {}, headers)).status, 403)
  }
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 0)
  for (const headers of [
    { Origin: `http://127.0.0.1:${port}` },
    { Origin: 'http://127.0.0.1:8081' },
  ])
    assert.equal(
      (await person.post('/dashboard/api', { form: '', name: 'b' }, headers)).status,
      200,
    )
})

test('every answer has the security headers, and none has a CORS header', async (t) => {
  const { port, signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const headers = { Origin: 'https://evil.example', Cookie: person.cookie() }
  for (const [method, path] of [
    ['GET', '/dashboard/api'],
    ['GET', '/sign-in'],
    ['GET', '/nothing'],
    ['OPTIONS', '/dashboard/api'],
    ['POST', '/dashboard/api'],
    ['GET', '/dashboard/servers/preview.json'],
  ] as const) {
    const answer = await exchange(port, method, path, headers)
    for (const name of Object.keys(answer.headers))
      assert.doesNotMatch(name, /^access-control/, `${method} ${path}`)
    const policy = String(answer.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; /)
    assert.doesNotMatch(policy, /unsafe|\*|data:/)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['cache-control'], 'no-store')
  }
})

test('other methods, types and sizes are refused before the service reads or changes anything', async (t) => {
  const { port, signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const send = (type: string, body: string, method = 'POST') =>
    exchange(
      port,
      method,
      '/dashboard/api',
      { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': type, Cookie: person.cookie() },
      body,
    )
  const form = 'application/x-www-form-urlencoded'
  assert.equal((await send('application/json', '{"name":"bot"}')).status, 415)
  assert.equal((await send('multipart/form-data; boundary=x', '--x--')).status, 415)
  assert.equal((await send('text/plain', 'name=bot')).status, 415)
  assert.equal((await send(form, `name=bot&x=${'x'.repeat(16_384)}`)).status, 413)
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
    assert.equal((await send(form, 'name=bot', method)).status, 404)
  assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 0)

  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST /sign-in HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: ${form}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  for (let index = 0; index < 20; index += 1) socket.write(`400\r\n${'x'.repeat(1024)}\r\n`)
  socket.end('0\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 413 /)
  assert.equal(
    (await person.post('/dashboard/api', { form: 'f', name: 'b'.repeat(64) })).status,
    200,
  )
})

test('odd queries and fields cause no fault', async (t) => {
  const { signedIn, visitor, faults } = await startDashboard(t)
  const { person } = await signedIn()
  const odd = ['%00', 'a%00b', '%FF', '%F0%9F', '%ED%A0%80', 'constructor', '__proto__']
  for (const value of odd) {
    for (const path of ['servers', 'api', 'account', 'organizations', 'servers/new']) {
      const query = `q=${value}&done=${value}&name=${value}&page=${value}&email=${value}`
      const { status, body } = await person.get(`/dashboard/${path}?${query}`)
      assert.equal(status, 200)
      assert.doesNotMatch(body, /native code|class="notice/)
    }
    const fields = {
      name: '\u0000',
      address: '\u0000',
      slug: '\u0000',
      organization_id: '\u0000',
    }
    assert.equal((await person.post('/dashboard/servers/new', fields)).status, 422)
    assert.equal((await person.post('/dashboard/organizations', fields)).status, 422)
  }
  assert.equal((await person.post('/dashboard/servers/%00/status')).status, 404)
  for (const email of ['a\u0000@example.com', '\u0000', '', 'x'.repeat(9_000)])
    assert.equal((await visitor().signIn(email, 'not this one')).status, 401)
  assert.deepEqual(faults, [])
})

function unescaped(value: string): string {
  return value.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
