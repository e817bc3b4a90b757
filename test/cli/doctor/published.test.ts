import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspectProxies, judgeCertificate } from '../../../src/cli/doctor/published.ts'
import { inspectVariables } from '../../../src/cli/doctor/variables.ts'
import { type Program, programIn } from '../program.ts'
import { diagnose } from './findings.ts'
import { once } from '../../fixtures/within.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))

test('the public URLs must answer as the API and the dashboard do, over valid TLS', async (t) => {
  const program = programIn(t)
  const served = await program.serve()
  const dashboard = /dashboard at http:\/\/[^\s"]*:(\d+)/
  await served.written(dashboard)
  const api = await terminateTls(t, served.port)
  const pages = await terminateTls(t, Number(dashboard.exec(served.stdout())?.[1]))
  // Node.js reads this variable when a process starts.
  const trusting: Pick<Program, 'run'> = {
    run: (args, { env } = {}) =>
      program.begin(args, { env: { ...env, NODE_EXTRA_CA_CERTS: fixture('localhost.crt') } }).ended,
  }
  const right = { BASE_URL: api, DASHBOARD_URL: pages, TRUSTED_PROXIES: '127.0.0.1' }

  const found = await diagnose(trusting, right)
  for (const check of ['api', 'dashboard', 'proxies'])
    assert.equal(found[check]!.state, 'ok', found[check]!.found)

  const swapped = { BASE_URL: pages, DASHBOARD_URL: api, TRUSTED_PROXIES: '' }
  const wrong = await diagnose(trusting, swapped)
  assert.match(wrong.api!.found, /\/health answers 404, and the answer is not that of this service/)
  assert.deepEqual([wrong.api!.state, wrong.dashboard!.state], ['problem', 'problem'])
  assert.equal(wrong.proxies!.state, 'warning')

  const untrusted = await diagnose(program, right)
  assert.equal(untrusted.dashboard!.state, 'problem')
  assert.match(untrusted.dashboard!.found, /the certificate of .* is not accepted/)

  served.kill('SIGTERM')
  await served.ended
  const [open, silent] = ['http://listing.example.com', 'http://127.0.0.1:1']
  const others = await diagnose(program, { BASE_URL: silent, DASHBOARD_URL: open })
  assert.match(others.dashboard!.found, /is not encrypted/)
  assert.match(others.api!.found, /does not answer this machine \(ECONNREFUSED\)/)
  assert.deepEqual([others.api!.state, others.dashboard!.state], ['warning', 'warning'])
  assert.equal(others.proxies, undefined)
})

test('a host name that this machine does not know is not blamed on a firewall', async (t) => {
  const program = programIn(t)
  // No name server is asked: a label has at most 63 characters.
  const unknown = await diagnose(program, { BASE_URL: `https://${'a'.repeat(64)}.example` })
  assert.match(unknown.api!.found, /^this machine does not know the host name of https:/)
  assert.equal(unknown.api!.state, 'warning')
})

test('a certificate that expires within two weeks is a warning', () => {
  const base = 'https://listing.example.com'
  for (const days of [null, 14, 90]) assert.equal(judgeCertificate('api', base, days), null)
  const finding = judgeCertificate('api', base, 13.9)
  assert.equal(finding?.state, 'warning')
  assert.match(finding.found, /expires in 13 days/)
})

test('a proxy that TRUSTED_PROXIES does not name is a warning, with what it costs', () => {
  const api = 'https://api.example.com'
  const pages = 'https://listing.example.com'
  for (const [baseUrl, dashboardUrl, host, found] of [
    [null, null, '0.0.0.0', undefined],
    ['http://api.example.com', 'http://listing.example.com', '0.0.0.0', undefined],
    // A proxy on the same machine may have all connections.
    [api, null, '127.0.0.1', undefined],
    [api, null, '::1', undefined],
    [api, null, '0.0.0.0', /is empty: a proxy on another machine can have a quarter of the conn/],
    [null, pages, '127.0.0.1', /is empty: all visitors of the dashboard share .* and its limits$/],
    [api, pages, '10.0.0.2', /its limits, and a proxy on another machine can have a quarter/],
  ] as const) {
    const [finding] = inspectProxies({ baseUrl, dashboardUrl, host, trustedProxies: [] })
    assert.equal(finding?.state, found && 'warning')
    if (found !== undefined) {
      assert.match(finding!.found, found)
      assert.match(finding!.advice!, /set TRUSTED_PROXIES/)
    }
    const trusted = inspectProxies({ baseUrl, dashboardUrl, host, trustedProxies: ['10.0.0.1'] })
    assert.equal(trusted[0]?.state, found && 'ok')
  }
})

const adviceFor = (environment: Record<string, string>) => inspectVariables(environment).advice

test('a misspelled setting is found, and no ordinary variable', () => {
  for (const [name, meant] of [
    ['PROT', 'PORT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URLS', 'DATABASE_URL'],
    ['DASHBORAD_URL', 'DASHBOARD_URL'],
    ['OPERATOR', 'OPERATORS'],
    ['TRUSTED_PROXYES', 'TRUSTED_PROXIES'],
    ['LOGLEVEL', 'LOG_LEVEL'],
  ] as const) {
    assert.equal(adviceFor({ [name]: 'x' }), `did you mean ${meant}?`)
    assert.equal(adviceFor({ [name]: 'x', [meant]: 'y' }), null)
  }
  const ordinary = ['POST', 'SORT', 'PORTS', 'HOSTS', 'HOSTNAME', 'HOSTTYPE', 'GHOST', 'OPSPORTS']
  const own = ['NODE_ENV', 'PATH', 'DATABASE', 'DB_URL', 'LOG_FILE', 'URL', 'P', 'HTTP_PORT']
  for (const name of [...ordinary, ...own]) assert.equal(adviceFor({ [name]: 'x' }), null, name)
})

/** A proxy with TLS in front of a port. Returns its URL. */
async function terminateTls(t: TestContext, port: number): Promise<string> {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method, url: path, headers } = incoming
    const onward = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }
  const files = {
    cert: readFileSync(fixture('localhost.crt')),
    key: readFileSync(fixture('localhost.key')),
  }
  const server = createServer(files, pass).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return `https://localhost:${(server.address() as AddressInfo).port}`
}
