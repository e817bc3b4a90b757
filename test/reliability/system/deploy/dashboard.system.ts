import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { type TestContext, test } from 'node:test'
import { programIn } from '../../../cli/program.ts'
import { personAt } from '../../../fixtures/person.ts'
import { answerTo } from '../../../fixtures/requests.ts'
import { startCaddy } from '../front/caddy.ts'
import {
  CERTIFICATE,
  freePort,
  type StartFront,
  startHaproxy,
  startNginx,
} from '../front/fronts.ts'

/*
 * The dashboard and the health behind the proxies with the configurations of deploy/.
 */

const FRONTS: Record<string, StartFront> = {
  nginx: startNginx,
  HAProxy: startHaproxy,
  Caddy: startCaddy,
}
const API = 'api.example.com'
const DASHBOARD = 'listing.example.com'
const PASSWORD = 'correct horse battery staple'
/** The proxies have 127.0.0.1, so the client takes another address of the machine. */
const CLIENT = '127.0.0.2'
const FORGED = '203.0.113.9'

const CORS = 'access-control-allow-origin'

for (const [name, startFront] of Object.entries(FRONTS)) {
  test(`people sign in behind ${name}, from their own address`, async (t) => {
    const { front } = await startBehind(t, startFront)
    const person = personAt(front.port, new Map(), askHost(DASHBOARD))
    const form = await person.get('/sign-in')
    assert.deepEqual([form.status, form.headers[CORS]], [200, undefined])
    const { status, headers } = await person.signIn('ada@example.com', PASSWORD)
    assert.equal(status, 303)
    assert.match(String(headers['set-cookie']), /^__Host-session=.*Secure/)
    const { body } = await person.get('/dashboard/account')
    assert.ok(body.includes(`>${CLIENT}</code>`), body)
    assert.ok(!body.includes(FORGED), body)

    const refused = await person.post('/dashboard/account', {}, { 'Sec-Fetch-Site': 'cross-site' })
    assert.equal(refused.status, 403)
  })

  test(`${name} passes an import of 1 MB on to the dashboard`, async (t) => {
    const { front } = await startBehind(t, startFront)
    const person = personAt(front.port, new Map(), askHost(DASHBOARD))
    await person.signIn('ada@example.com', PASSWORD)
    const fits = await person.upload('/dashboard/servers/import', {}, Buffer.alloc(990_000, ' '))
    assert.match(fits.body, /<\/html>/)
    assert.notEqual(fits.status, 413)
    const longer = Buffer.alloc(2_000_000, ' ')
    const tooLong = await person.upload('/dashboard/servers/import', {}, longer)
    assert.equal(tooLong.status, 413)
    assert.match(tooLong.body, /<\/html>/)
  })

  test(`${name} answers HEAD of the health, and shows no metrics`, async (t) => {
    const { front } = await startBehind(t, startFront)
    const ask = async (host: string, method: string, path: string) => {
      const { status, body } = await askHost(host)(front.port, method, path, {})
      return [status, body]
    }
    assert.deepEqual(await ask(API, 'HEAD', '/health'), [200, ''])
    assert.deepEqual(await ask(API, 'GET', '/health'), [200, '{"ok":true}'])
    assert.deepEqual(await ask(API, 'POST', '/health'), [404, '{"error":"Not found."}'])
    assert.deepEqual(await ask(API, 'HEAD', '/v1/servers'), [404, ''])
    for (const path of ['/metrics', '/readyz', '/livez']) {
      assert.deepEqual(await ask(API, 'GET', path), [404, '{"error":"Not found."}'])
      const [status, body] = await ask(DASHBOARD, 'GET', path)
      assert.deepEqual([status, /<\/html>/.test(String(body))], [404, true])
    }
  })

  test(`${name} passes public pages on, with their time in caches`, async (t) => {
    const { front, program } = await startBehind(t, startFront)
    await program.done('server import --user ada@example.com -', {
      stdin: JSON.stringify([{ name: 'Lagoon', address: 'play.lagoon.example' }]),
    })
    const [server] = JSON.parse(await program.done('server list --user ada@example.com --json'))
    const page = await askHost(DASHBOARD)(front.port, 'GET', `/servers/${server.id}`, {})
    assert.deepEqual([page.status, page.headers['cache-control']], [200, 'public, max-age=60'])
    assert.match(String(page.headers['content-security-policy']), /^default-src 'none'/)
    assert.ok(page.body.includes(`href="https://${DASHBOARD}/servers/${server.id}"`), page.body)
    const missing = await askHost(DASHBOARD)(front.port, 'GET', '/servers/x', {})
    assert.equal(missing.status, 404)
    const api = await askHost(API)(front.port, 'GET', `/servers/${server.id}`, {})
    assert.deepEqual([api.status, api.body], [404, '{"error":"Not found."}'])
  })

  test(`${name} answers 502 or 503 while there is no dashboard, outside the form of the API`, async (t) => {
    const front = await startFront(t, 1, 1)
    const { status, headers, body } = await askHost(DASHBOARD)(front.port, 'GET', '/sign-in', {})
    assert.ok([502, 503].includes(status), `${status}`)
    assert.equal(headers[CORS], undefined)
    assert.doesNotMatch(body, /^\{/)
  })
}

async function startBehind(t: TestContext, startFront: StartFront) {
  const program = programIn(t)
  const dashboardPort = await freePort()
  await program.done('user add ada@example.com --password-stdin --create', { stdin: PASSWORD })
  const env = {
    DASHBOARD_PORT: `${dashboardPort}`,
    DASHBOARD_URL: `https://${DASHBOARD}`,
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_PAGES: '1',
  }
  const service = await program.serve({ env })
  await service.written(/dashboard at/)
  return { front: await startFront(t, service.port, dashboardPort), program }
}

/** A client of one host that forges its address. */
function askHost(host: string) {
  const ca = readFileSync(CERTIFICATE)
  return (
    port: number,
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | Buffer = '',
  ) =>
    answerTo(
      request({
        host: '127.0.0.1',
        port,
        localAddress: CLIENT,
        servername: host,
        ca,
        // The certificate of the tests is for localhost.
        checkServerIdentity: () => undefined,
        method,
        path,
        headers: {
          Host: host,
          'X-Forwarded-For': FORGED,
          ...(method === 'POST' ? { 'Content-Length': Buffer.byteLength(body) } : {}),
          ...headers,
        },
        agent: false,
      }),
      body,
    )
}
