import { judgeAnswer } from '../form.ts'
import type { Kit } from '../kit.ts'
import { LIST, type Request } from '../request.ts'
import { fieldOf, objectOf } from '../wire/answer.ts'
import type { RuleName } from '../rules.ts'
import type { Check } from './check.ts'

const UUID = '0c1c2b7e-6f0d-4d51-8a0d-0f1c7c2f9a11'

const HEALTH: readonly Request[] = [
  { path: '/health' },
  { path: '/' },
  { path: '/health?x=1' },
  { path: '/health', fields: ['Authorization: Bearer nonsense'] },
]

const PREFLIGHTS: readonly Request[] = [LIST, '/health', '/', '/nope', `${LIST}/${UUID}`].map(
  (path) => ({
    method: 'OPTIONS',
    path,
    fields: [
      'Origin: https://example.com',
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Headers: authorization',
    ],
  }),
)

const NOT_FOUND: readonly (readonly [RuleName, Request])[] = [
  ...['/v1/unknown', '/v1', '/nope', '/v2/servers', `${LIST}/${UUID}`, '/health/nope'].map(
    (path) => ['unknown-path', { path }] as const,
  ),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'FOO'].map(
    (method) => ['unknown-method', { method, path: LIST }] as const,
  ),
  ['unknown-method', { method: 'POST', path: LIST, body: '{"name":"x"}' }],
  ['unknown-method', { method: 'POST', path: '/health' }],
  ['unknown-method', { method: 'DELETE', path: '/' }],
  ['head', { method: 'HEAD', path: LIST }],
  ['head', { method: 'HEAD', path: '/nope' }],
  ['path-bytes', { path: `${LIST}/` }],
  ['path-bytes', { path: '/V1/SERVERS' }],
  ['path-bytes', { path: '/v1/%73ervers' }],
  ['head-of-health', { method: 'HEAD', path: '/health' }],
  ['head-of-health', { method: 'HEAD', path: '/' }],
]

/** Health, preflights and everything that is not found (spec 4.2 to 4.4), without a key. */
export const PATHS: Check = {
  name: 'paths and methods',
  requests: () => HEALTH.length + PREFLIGHTS.length + NOT_FOUND.length,
  grants: 0,
  async run(kit) {
    for (const request of HEALTH) await judgeHealth(kit, request)
    for (const request of PREFLIGHTS) await judgePreflight(kit, request)
    for (const [rule, request] of NOT_FOUND) {
      const exchange = await kit.send(request)
      if (rule === 'head-of-health' || rule === 'path-bytes')
        kit.judge.expect(rule, exchange.answer?.status === 404, { exchange, expected: '404' })
      else judgeAnswer(kit.judge, rule, exchange, 404)
    }
  },
}

/** Checks that a request for the health gets its 200 (spec 4.2). */
export async function judgeHealth(kit: Kit, request: Request): Promise<void> {
  const exchange = await kit.send(request)
  if (!judgeAnswer(kit.judge, 'health', exchange, 200)) return
  const isOk = objectOf(exchange.answer)?.ok === true
  kit.judge.expect('health', isOk, { exchange, expected: 'an object with `ok` true' })
}

async function judgePreflight({ judge, send }: Kit, request: Request): Promise<void> {
  const exchange = await send(request)
  if (!judgeAnswer(judge, 'preflight', exchange, 204)) return
  const { answer } = exchange
  const [type, length] = [fieldOf(answer, 'content-type'), fieldOf(answer, 'content-length')]
  judge.expect('preflight-form', type !== null && length === null, {
    exchange,
    expected: 'a Content-Type, and no Content-Length',
    seen: `Content-Type: ${type ?? 'none'}, Content-Length: ${length ?? 'none'}`,
  })
}
