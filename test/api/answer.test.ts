import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswer } from '../../src/api/answer.ts'
import { refusal } from '../../src/api/responses.ts'
import type { Response } from '../../src/http/message.ts'
import { generateKey, hashApiKey } from '../../src/listing/api-key.ts'
import type { ServerRow } from '../../src/listing/server.ts'
import type { ServingStore, Use } from '../../src/listing/store.ts'

/*
 * Answers as values: what is asked of the store and remembered of it, and the answers that no request leads to.
 */

test('a listing is remembered with its revision, and sent again where the store says that it holds', async () => {
  const recalled: (string | null)[] = []
  const keys: Buffer[] = []
  const key = generateKey()
  const uses = [
    usedWith('1', 'one'),
    usedWith('1', null),
    usedWith('2', 'two'),
    usedWith('2', null),
  ]
  const get = answerFrom(async (keyHash, recall) => {
    keys.push(Buffer.from(keyHash))
    recalled.push(recall('nobody'), recall('ada'))
    return uses.shift()!
  })
  const names: unknown[] = []
  for (let count = 0; count < 4; count += 1) {
    const { status, body, apiKeyId } = await get(key)
    assert.deepEqual([status, apiKeyId], [200, 'id'])
    names.push(JSON.parse(body).servers[0].name)
  }
  assert.deepEqual(names, ['one', 'one', 'two', 'two'])
  assert.deepEqual(recalled, [null, null, null, '1', null, '1', null, '2'])
  assert.deepEqual(keys, Array(4).fill(hashApiKey(key)))
})

test('the answer of each refusal is an error in the form of all errors', () => {
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
    assert.equal(refused.body, JSON.stringify({ error }))
    assert.equal(refused.route, 'unknown')
    assert.deepEqual(refused.headers.slice(0, 2), [
      'Content-Type',
      'application/json; charset=utf-8',
    ])
  }
})

test('a preflight has no body, and each answer the route that it is counted under', async () => {
  const answer = createAnswer({ store: { useApiKey: assert.fail }, onFault: assert.fail })
  const preflight = await answer({ method: 'OPTIONS', path: '/', authorization: null })
  assert.deepEqual([preflight.body, preflight.route], ['', 'OPTIONS'])
  const routes = {
    '/': '/health',
    '/health': '/health',
    '/v1/servers': '/v1/servers',
    '/x': 'unknown',
  }
  for (const [path, route] of Object.entries(routes))
    assert.equal((await answer({ method: 'GET', path, authorization: null })).route, route)
})

function answerFrom(useApiKey: ServingStore['useApiKey']): (key: string) => Promise<Response> {
  const answer = createAnswer({ store: { useApiKey }, onFault: assert.fail })
  return async (key) =>
    answer({ method: 'GET', path: '/v1/servers', authorization: `Bearer ${key}` })
}

function usedWith(revision: string, name: string | null): Use {
  const row: Omit<ServerRow, 'name'> = {
    id: '1',
    slug: null,
    host_label: 'a',
    edition: 'java',
    status: 's',
    version: null,
    listing_kind: null,
  }
  const rows = name === null ? null : [{ ...row, name }]
  return { outcome: 'used', apiKeyId: 'id', userId: 'ada', revision, rows }
}
