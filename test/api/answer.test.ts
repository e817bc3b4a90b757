import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswer } from '../../src/api/answer.ts'
import { AuthenticationFault, ListFault, NotConfigured } from '../../src/model/faults.ts'
import { refusal } from '../../src/api/responses.ts'
import { listen } from '../../src/http/listen.ts'
import type { Response } from '../../src/http/message.ts'
import { generateKey } from '../../src/keys/api-key.ts'
import { hashApiKey } from '../../src/model/key-hash.ts'
import type { ServerRow } from '../../src/model/server-row.ts'
import type { ClaimStore, Listing, Claim } from '../../src/model/claim.ts'
import { ask } from '../fixtures/requests.ts'

/* Answers as values: the store's calls, the cache, and answers that no request can cause. */

test('a cached listing is sent again while its revision is current', async () => {
  const cached: (string | null)[] = []
  const keys: Buffer[] = []
  const key = generateKey()
  // A claim without a name finds the listing that the API holds current.
  const claims: [revision: string, name: string | null][] = [
    ['1', 'one'],
    ['1', null],
    ['2', 'two'],
    ['2', null],
  ]
  const get = answerFrom(async (keyHash, listings) => {
    keys.push(Buffer.from(keyHash))
    const held = listings.get('ada')
    cached.push(listings.get('bob')?.revision ?? null, held?.revision ?? null)
    const [revision, name] = claims.shift()!
    return grantedWith(revision, name === null ? held! : [{ ...ROW, name }])
  })
  const names: unknown[] = []
  for (let count = 0; count < 4; count += 1) {
    const { status, body, apiKeyId } = await get(key)
    assert.deepEqual([status, apiKeyId], [200, 'id'])
    names.push(JSON.parse(String(body)).servers[0].name)
  }
  assert.deepEqual(names, ['one', 'one', 'two', 'two'])
  assert.deepEqual(cached, [null, null, null, '1', null, '1', null, '2'])
  assert.deepEqual(keys, Array(4).fill(hashApiKey(key)))
})

test('the answer is the listing that the claim found current, even if the cache has lost it', async () => {
  const held = { revision: '1', body: Buffer.from('{"servers":[]}') }
  const get = answerFrom(async () => grantedWith('1', held))
  assert.equal(String((await get(generateKey())).body), '{"servers":[]}')
})

test('each refusal has the form of all errors', () => {
  const errors = {
    400: 'Bad request.',
    404: 'Not found.',
    408: 'Request timeout.',
    414: 'URI too long.',
    431: 'Request header fields too large.',
    505: 'HTTP version not supported.',
  } as const
  for (const [status, error] of Object.entries(errors)) {
    const refused = refusal(Number(status) as keyof typeof errors)
    assert.equal(refused.status, Number(status))
    assert.equal(String(refused.body), JSON.stringify({ error }))
    assert.equal(refused.route, 'unknown')
    assert.match(String(refused.head), /\r\nContent-Type: application\/json; charset=utf-8\r\n/)
  }
})

test('a claim gets the time of its request', async () => {
  const times: (number | undefined)[] = []
  const claim: ClaimStore['claim'] = async (_keyHash, _listings, since) => {
    times.push(since)
    return { outcome: 'unknown' }
  }
  const answer = createAnswer({ store: { claim }, onFault: assert.fail })
  const listener = await listen({ answer, refuse: refusal, observe() {} }, '127.0.0.1', 0)
  const from = performance.now()
  assert.equal((await ask(listener.port, { key: generateKey() })).status, 401)
  const to = performance.now()
  await listener.close()
  const [time = 0] = times
  assert.ok(time >= from && time <= to, `${time}, not from ${from} to ${to}`)
})

test('a preflight has no body, and each answer names its route', async () => {
  const answer = createAnswer({ store: { claim: () => assert.fail() }, onFault: assert.fail })
  const preflight = await answer({ method: 'OPTIONS', path: '/', authorization: null })
  assert.deepEqual([preflight.body.length, preflight.route], [0, 'OPTIONS'])
  const routes = {
    '/': '/health',
    '/health': '/health',
    '/v1/servers': '/v1/servers',
    '/x': 'unknown',
  }
  for (const [path, route] of Object.entries(routes))
    assert.equal((await answer({ method: 'GET', path, authorization: null })).route, route)
})

test('what is near a path of the API is not found', async () => {
  const answer = createAnswer({ store: { claim: () => assert.fail() }, onFault: assert.fail })
  const paths = ['/v1', '/v1/', '/v2/servers', '/v1/./servers', '/Health', '/constructor']
  // test/wire/corpus/request-lines.ts has more.
  for (const path of [...paths, '/openapi.json', '/metrics']) {
    const found = await answer({ method: 'GET', path, authorization: null })
    assert.deepEqual([found.status, found.route], [404, 'unknown'], path)
  }
})

test('a 5xx has the id under which the log has its fault, and keeps its body', async () => {
  for (const fault of [new AuthenticationFault('x'), new ListFault('x'), new NotConfigured('x')]) {
    const claim = () => Promise.reject(fault)
    const ask = (id: string | undefined) =>
      createAnswer({ store: { claim }, onFault: () => id })({
        method: 'GET',
        path: '/v1/servers',
        authorization: `Bearer ${generateKey()}`,
      })
    const [withId, without] = [await ask('3f-1'), await ask(undefined)]
    assert.equal(String(withId.head), `${String(without.head)}X-Request-Id: 3f-1\r\n`)
    assert.doesNotMatch(String(without.head), /X-Request-Id/)
    assert.deepEqual([withId.status, withId.body], [without.status, without.body])
  }
})

function answerFrom(claim: ClaimStore['claim']): (key: string) => Promise<Response> {
  const answer = createAnswer({ store: { claim }, onFault: assert.fail })
  return async (key) =>
    answer({ method: 'GET', path: '/v1/servers', authorization: `Bearer ${key}` })
}

const ROW: Omit<ServerRow, 'name'> = {
  id: '1',
  slug: null,
  host_label: 'a',
  edition: 'java',
  status: 's',
  version: null,
  listing_kind: null,
}

function grantedWith(revision: string, listed: ServerRow[] | Listing): Claim {
  const granted = { outcome: 'granted', apiKeyId: 'id', userId: 'ada', revision } as const
  return Array.isArray(listed)
    ? { ...granted, rows: listed }
    : { ...granted, rows: null, held: listed }
}
