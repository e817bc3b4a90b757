import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConnectionError, RequestTimeoutError } from '../../client/src/index.ts'
import { ROOT } from '../fixtures/tree.ts'
import { fakeTime } from './fake-time.ts'
import { clientOf, KEY, startOddService } from './odd-service.ts'
import { once } from '../fixtures/within.ts'

/*
 * Requests without an answer: which of them the client tries again, and what it advises.
 */

const API = 'https://api.example.com'
const TRIES = 3

test('a certificate that the program does not trust is final, and the message names the variable', async (t) => {
  const port = await startTls(t)
  const { error, requests } = await failureOf(`https://localhost:${port}`)
  assertFinal(error, /\(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .* set NODE_EXTRA_CA_CERTS to the PEM file/)
  assert.equal(requests, 1)
})

test('https to a port without TLS is final', async (t) => {
  const plain = await startOddService(t, () => undefined)
  const { error, requests } = await failureOf(plain.replace('http:', 'https:'))
  assertFinal(error, /\(ERR_SSL_WRONG_VERSION_NUMBER\)\. There is no TLS at this port/)
  assert.equal(requests, 1)
})

test('a port that fetch never connects to is final', async () => {
  const { error, requests } = await failureOf('http://127.0.0.1:6000')
  assertFinal(error, /\(bad port\)\. .* Give the API another port/)
  assert.equal(requests, 1)
})

test('each code of a certificate has its advice, wherever the runtime puts the code', async () => {
  const advice: [code: string, message: RegExp][] = [
    ['CERT_HAS_EXPIRED', /Check the clock of this machine/],
    ['CERT_NOT_YET_VALID', /Check the clock of this machine/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /Set baseUrl to a name that the certificate has/],
    ['HOSTNAME_MISMATCH', /Set baseUrl to a name that the certificate has/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /NODE_EXTRA_CA_CERTS/],
    ['INVALID_CA', /NODE_EXTRA_CA_CERTS/],
  ]
  for (const [code, message] of advice)
    for (const thrown of [withCode(code), new TypeError('fetch failed', { cause: withCode(code) })])
      assertFinal((await failureOf(API, thrown)).error, message)
})

test('a host that the resolver does not know is final, and the message names the proxy variables', async () => {
  const { error, requests } = await failureOf(API, withCode('ENOTFOUND'))
  assertFinal(error, /\(ENOTFOUND\)\. .* set HTTPS_PROXY and NODE_USE_ENV_PROXY=1/)
  assert.equal(requests, 1)
})

test('a failure that can pass by itself is tried again, also one of TLS', async () => {
  const codes = ['ECONNREFUSED', 'EAI_AGAIN', 'ECONNRESET', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR']
  for (const code of codes) {
    const { error, requests } = await failureOf(API, withCode(code))
    assert.ok(error instanceof ConnectionError && error.isTransient, String(error))
    assert.equal(requests, TRIES)
  }
})

test('a host that has answered may be unknown for a while, and needs no proxy', async () => {
  const time = fakeTime(() => undefined)
  let thrown: Error | null = null
  const client = clientOf(API, time.clock(), {
    async fetch() {
      if (thrown !== null) throw thrown
      return new Response('{"servers":[]}')
    },
  })
  await time.until(client.listServers())
  for (const code of ['ENOTFOUND', 'ECONNREFUSED']) {
    thrown = withCode(code)
    const error = await time.until(client.listServers().catch((each: unknown) => each))
    assert.ok(error instanceof ConnectionError && error.isTransient, String(error))
    assert.doesNotMatch(error.message, /PROXY/)
  }
})

test('a first request without an answer in time may need a proxy', async (t) => {
  const silent = await startOddService(t, () => undefined)
  const time = fakeTime(() => undefined)
  const clock = time.clock()
  const call = clientOf(silent, clock, { timeoutMs: 50 }).listServers()
  const error = await time.until(call.catch((each: unknown) => each))
  assert.ok(error instanceof RequestTimeoutError, String(error))
  assert.match(error.message, /within 50 ms\. .*NODE_USE_ENV_PROXY=1/)
})

test('the error with which a framework steers the rendering of a page passes unchanged', async () => {
  const digest = 'DYNAMIC_SERVER_USAGE'
  const steering = Object.assign(new Error('Dynamic server usage'), { digest })
  const { error, requests } = await failureOf(API, steering)
  assert.equal(error, steering)
  assert.equal(requests, 1)
})

/** What a call of three tries throws. It sends real requests, or each fails with `thrown`. */
async function failureOf(baseUrl: string, thrown?: Error) {
  const time = fakeTime(() => undefined)
  let requests = 0
  const client = clientOf(baseUrl, time.clock(), {
    maxTries: TRIES,
    fetch(input, init) {
      requests += 1
      return thrown === undefined ? fetch(input, init) : Promise.reject(thrown)
    },
  })
  const error = await time.until(client.listServers().catch((each: unknown) => each))
  return { error, requests }
}

function assertFinal(error: unknown, message: RegExp): void {
  assert.ok(error instanceof ConnectionError && !error.isTransient, String(error))
  assert.match(error.message, message)
  assert.doesNotMatch(error.message, new RegExp(KEY))
}

function withCode(code: string): Error {
  return Object.assign(new Error('planted'), { code })
}

/** A server whose certificate only its own program knows. Returns its port. */
async function startTls(t: TestContext): Promise<number> {
  const [cert, key] = ['crt', 'key'].map((ending) =>
    readFileSync(join(ROOT, `test/fixtures/tls/localhost.${ending}`)),
  )
  const server = createTlsServer({ cert: cert!, key: key! }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}
