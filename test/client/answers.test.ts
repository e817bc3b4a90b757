import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import {
  ConnectionError,
  InvalidAnswerError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  RequestTimeoutError,
  ServerListingClient,
  type ServerListingError,
  ServiceError,
  UnauthorizedError,
  UnexpectedStatusError,
} from '../../client/src/index.ts'
import { generateKey } from '../../src/keys/api-key.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { KEY, SERVER, startOddService } from './odd-service.ts'

/*
 * What a call throws for each answer, with one try.
 */

type ErrorClass = new (message: string) => ServerListingError

test('each answer of the real service is the listing or an error of its own class', async (t) => {
  const { port, store, databasePath, clock } = await startTestService(t)
  const entry = { name: 'Survival', address: 'play.example.com:25565', version: '1.21' }
  const { key } = await addOwner(store, 'ada@example.com', [entry])
  const baseUrl = `http://127.0.0.1:${port}`

  const [server] = await once(baseUrl, key)
  assert.equal(server?.address, 'play.example.com:25565')
  assert.deepEqual(Object.keys(server ?? {}), Object.keys(SERVER))
  assert.ok(Object.isFrozen(server))

  const limited = await failure(baseUrl, key)
  assertError(limited, RateLimitedError, 429, /another program uses the same API key/)
  assert.equal(limited.retryAfterMs, 1_000)
  assert.ok(limited.isTransient)

  const revoked = await failure(baseUrl, generateKey())
  assertError(revoked, UnauthorizedError, 401, /the API key is unknown or revoked/)
  assert.ok(!revoked.isTransient)
  assertError(await failure(`${baseUrl}/v2`, key), NotFoundError, 404, /baseUrl/)

  clock.elapse(2_000)
  const other = new DatabaseSync(databasePath)
  t.after(() => other.close())
  other.exec('ALTER TABLE servers RENAME TO elsewhere')
  const failed = await failure(baseUrl, key)
  assertError(failed, ServiceError, 502, /Try again later/)
  assert.ok(failed.isTransient)
})

test('the request id of a 5xx is in the error, unless it could be a key', async (t) => {
  let id = ''
  const baseUrl = await startOddService(t, (_, response) =>
    response.writeHead(502, { 'X-Request-Id': id }).end(),
  )
  id = '0190a2c4-77b1'
  const named = await failure(baseUrl)
  assertError(named, ServiceError, 502, /tell the operator request id 0190a2c4-77b1 /)
  assert.equal(named.requestId, id)
  id = KEY
  assert.equal((await failure(baseUrl)).requestId, null)
})

test('a redirect is not followed, so the key reaches no other address', async (t) => {
  const received: (string | undefined)[] = []
  const elsewhere = await startOddService(t, (request, response) => {
    received.push(request.headers.authorization)
    response.end(JSON.stringify({ servers: [] }))
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const baseUrl = await startOddService(t, (_, response) => {
      response.writeHead(status, { Location: `${elsewhere}/v1/servers?token=secret` }).end()
    })
    const error = await failure(baseUrl)
    assertError(error, RedirectError, status, new RegExp(`to ${elsewhere}/v1/servers\\. `))
    assert.doesNotMatch(error.message, /token/)
  }
  assert.deepEqual(received, [])
})

test('a 200 that is not a listing is an error that names the place', async (t) => {
  const bodies: [body: string, message: RegExp][] = [
    ['<!doctype html><title>Sign in</title>', /the body is not JSON/],
    ['', /the body is not JSON/],
    ['null', /no array "servers"/],
    ['{"servers":{}}', /no array "servers"/],
    ['{"servers":[null]}', /servers\[0\] is not an object/],
    [listing({}, { name: 7 }), /servers\[1\]\.name is not a string\./],
    [listing({ version: false }), /servers\[0\]\.version is not a string or null/],
    [listing({ listing_kind: undefined }), /servers\[0\]\.listing_kind is not/],
    [listing({ id: null }), /servers\[0\]\.id is not a string\./],
  ]
  let body = ''
  const baseUrl = await startOddService(t, (_, response) => response.end(body))
  for (const [sent, message] of bodies) {
    body = sent
    assertError(await failure(baseUrl), InvalidAnswerError, 200, message)
  }
})

test('fields that a later version of the API adds are left out', async (t) => {
  const body = JSON.stringify({ servers: [{ ...SERVER, players: 7 }], next: null })
  const baseUrl = await startOddService(t, (_, response) => response.end(body))
  assert.deepEqual(await once(baseUrl), [SERVER])
})

test('a body above 4 MiB is an error before its end', async (t) => {
  let hasClosed: () => void
  const closed = new Promise<void>((resolve) => (hasClosed = resolve))
  const chunk = Buffer.alloc(65_536, ' ')
  const baseUrl = await startOddService(t, (_, response) => {
    response.once('close', hasClosed)
    const send = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', send)
    send()
  })
  assertError(await failure(baseUrl), InvalidAnswerError, 200, /more than 4194304 bytes/)
  await closed
})

test('an answer that is cut off is a failed connection', async (t) => {
  const baseUrl = await startOddService(t, (_, response) => {
    response.writeHead(200, { 'Content-Length': 1_000 })
    response.write('{"servers":[', () => response.destroy())
  })
  const error = await failure(baseUrl)
  assertError(error, ConnectionError, null, /got no complete answer/)
  assert.ok(error.isTransient)
  assert.ok(error.cause instanceof Error)
})

test('a port without a service is a failed connection that names the reason', async (t) => {
  const { port, close } = await startTestService(t)
  await close()
  const error = await failure(`http://127.0.0.1:${port}`)
  assertError(error, ConnectionError, null, /\(ECONNREFUSED\)/)
})

test('the time limit covers the headers and the body', async (t) => {
  const silent = await startOddService(t, () => undefined)
  const slow = await startOddService(t, (_, response) => void response.write('{"servers":['))
  for (const baseUrl of [silent, slow]) {
    const error = await failure(baseUrl, KEY, { timeoutMs: 50 })
    assertError(error, RequestTimeoutError, null, /within 50 ms/)
    assert.ok(error.isTransient)
  }
})

test('a status that the API never sends is an error of its own', async (t) => {
  let status = 0
  const baseUrl = await startOddService(t, (_, response) => response.writeHead(status).end('x'))
  for (status of [204, 400, 403, 418, 431, 500, 505])
    assertError(await failure(baseUrl), UnexpectedStatusError, status, /never sends/)
  for (status of [503, 504]) assertError(await failure(baseUrl), ServiceError, status, /later/)
})

/** Each call has its own queue, so that no call waits. */
function once(baseUrl: string, key = KEY, options: { timeoutMs?: number } = {}) {
  const clock = {
    now: () => performance.now(),
    schedule(callback: () => void, ms: number) {
      const timer = setTimeout(callback, ms)
      return () => clearTimeout(timer)
    },
  }
  const client = new ServerListingClient({ baseUrl, apiKey: key, maxTries: 1, clock, ...options })
  return client.listServers()
}

async function failure(...args: Parameters<typeof once>): Promise<ServerListingError> {
  return once(...args).then(
    () => assert.fail('the call returned a listing'),
    (error: ServerListingError) => error,
  )
}

function assertError(
  error: ServerListingError,
  expected: ErrorClass,
  status: number | null,
  message: RegExp,
): void {
  assert.ok(error instanceof expected, `${error.stack}`)
  assert.equal(error.name, expected.name)
  assert.equal(error.status, status)
  assert.match(error.message, message)
  assert.match(error.message, /^GET http:\/\/127\.0\.0\.1:\d+(\/v2)?\/v1\/servers /)
}

function listing(...changes: object[]): string {
  return JSON.stringify({ servers: changes.map((each) => ({ ...SERVER, ...each })) })
}
