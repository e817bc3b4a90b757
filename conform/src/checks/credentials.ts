import { judgeAnswer, judgeField } from '../form.ts'
import type { Kit } from '../kit.ts'
import { LIST, listWith, type Request } from '../request.ts'
import type { RuleName } from '../rules.ts'
import type { Exchange } from '../wire/connection.ts'
import type { Check } from './check.ts'

/** Requests that must get 401, and the rule of each. `key` is a valid key. */
function refused(key: string): (readonly [RuleName, Request])[] {
  const unknown = `svc_live_${'0123456789abcdef'.repeat(4)}`
  const basic = Buffer.from(`${key}:`).toString('base64')
  return [
    ['no-credentials', { path: LIST }],
    ['no-credentials', listWith('')],
    ['no-credentials', listWith('Bearer')],
    ['no-credentials', listWith('Bearer ')],
    ['other-scheme', listWith(key)],
    ['other-scheme', listWith(`Basic ${basic}`)],
    ['other-scheme', listWith(`Basic ${key}`)],
    ['other-scheme', listWith(`Token ${key}`)],
    ['other-scheme', listWith(`Bearer  ${key}`)],
    ['other-scheme', listWith(`Bearer\t${key}`)],
    ['other-scheme', listWith(`Bearer${key}`)],
    ['other-scheme', listWith(`Bearer "${key}"`)],
    ['wrong-key', listWith(`Bearer ${unknown}`)],
    ['wrong-key', listWith('Bearer svc_live_')],
    ['wrong-key', listWith('Bearer svc_test_0123456789abcdef')],
    ['wrong-key', listWith(`Bearer ${key.slice(0, -1)}`)],
    ['wrong-key', listWith(`Bearer ${key}0`)],
    ['wrong-key', listWith(`Bearer ${key} x`)],
    ['wrong-key', listWith(`Bearer \xa0${key}`)],
    ['wrong-key', listWith(`Bearer ${key}\xa0`)],
    ['wrong-key', listWith("Bearer svc_live_' OR '1'='1")],
    ['key-elsewhere', { path: `${LIST}?api_key=${key}&access_token=${key}&key=${key}` }],
    ['key-elsewhere', { path: LIST, fields: [`X-API-Key: ${key}`, `Cookie: key=${key}`] }],
    ['key-elsewhere', { path: LIST, fields: [`Proxy-Authorization: Bearer ${key}`] }],
    [
      'key-elsewhere',
      {
        path: LIST,
        fields: ['Content-Type: application/x-www-form-urlencoded'],
        body: `access_token=${key}&api_key=${key}`,
      },
    ],
  ]
}

const COUNT = refused('').length

/** Everything that is no valid credential (spec 5.1). */
export const CREDENTIALS: Check = {
  name: 'credentials',
  requests: () => COUNT + 1,
  grants: 0,
  async run(kit) {
    const { judge, key } = kit
    let first: Exchange | null = null
    for (const [rule, request] of refused(key.text)) {
      const exchange = await sendWithKey(kit, request)
      if (!judgeAnswer(judge, rule, exchange, 401)) continue
      first ??= exchange
      judge.expect('equal-401s', exchange.answer.body === first.answer?.body, {
        exchange,
        expected: first.answer?.body ?? '',
      })
      const challenge = ['WWW-Authenticate', 'Bearer'] as const
      judgeField(judge, 'challenge', exchange, exchange.answer, challenge)
    }
    const bearer = `Authorization: Bearer ${key.text}`
    const twice = await sendWithKey(kit, { path: LIST, fields: [bearer, bearer] })
    judge.expect('two-headers', twice.answer?.status === 401, { exchange: twice, expected: '401' })
  },
}

/** A service that wrongly grants the request has spent the second of the key. */
async function sendWithKey({ send, key }: Kit, request: Request): Promise<Exchange> {
  const exchange = await send(request)
  if (exchange.answer?.status === 200) key.claims.push(exchange)
  return exchange
}
